// The wing `samples` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';
import './api/paths.ts';

export const samples: Wing = {
  name: 'samples',
  needs: ['sites'],
  agent: async () => (await import('./bin/agent.ts')).samplesOnNodes(),
  api: async () => (await import('./api/part.ts')).api,
  cli: {
    ofJob: async () => ({ titled: (await import('./cli/used-lines.ts')).usedLines }),
    verbs: [
      {
        group: 'Overview:',
        name: 'efficiency',
        before: 'replay',
        summary: 'who asks for what, and uses how much of it',
        load: () => import('./cli/verb.ts'),
      },
      {
        group: 'Overview:',
        name: 'gpus',
        before: 'replay',
        summary: 'all gpus: how much each works, and who has it or had it',
        load: () => import('./cli/gpus.ts'),
      },
    ],
  },
  keys: async () => (await import('./config/keys.ts')).keys,
  options: async () => (await import('./config/options.ts')).options,
  head: async (program) => (await import('./bin/head.ts')).headOf(program),
};
