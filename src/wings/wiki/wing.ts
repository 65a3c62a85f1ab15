// The wing `wiki` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';
import './api/paths.ts';

export const wiki: Wing = {
  name: 'wiki',
  needs: ['sites'],
  cli: {
    checks: [
      {
        name: 'wiki listener',
        after: 'head',
        check: async (context) => (await import('./cli/doctor.ts')).wikiListener(context),
      },
    ],
  },
  keys: async () => (await import('./config/wiki-keys.ts')).keys,
  options: async () => (await import('./config/wiki-options.ts')).options,
  api: async () => (await import('./api/part.ts')).api,
  head: async (program) => (await import('./bin/head.ts')).headOf(program),
};
