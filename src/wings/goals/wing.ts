// The wing `goals` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';
import './api/paths.ts';

export const goals: Wing = {
  name: 'goals',
  needs: ['sites'],
  cli: {
    verbs: [
      {
        group: 'Administration:',
        name: 'goal',
        after: 'partition',
        summary: 'what nodes are to be like',
        load: () => import('./cli/verb.ts'),
      },
    ],
  },
  keys: async () => (await import('./config/goal-keys.ts')).keys,
  options: async () => (await import('./config/goal-options.ts')).options,
  api: async () => (await import('./api/part.ts')).api,
  head: async (program) => (await import('./bin/head.ts')).headOf(program),
};
