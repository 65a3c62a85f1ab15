// The wing `wiki` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';

export const wiki: Wing = {
  name: 'wiki',
  needs: ['sites'],
  cli: {
    checks: [
      {
        name: 'wiki door',
        after: 'head',
        check: async (context) => (await import('./cli/doctor.ts')).wikiDoor(context),
      },
    ],
  },
  keys: async () => (await import('./config/wiki-keys.ts')).keys,
  options: async () => (await import('./config/wiki-options.ts')).options,
};
