// The wing `rollout` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';

export const rollout: Wing = {
  name: 'rollout',
  needs: [],
  cli: {
    innerVerbs: [
      {
        within: 'node',
        name: 'add',
        before: 'list',
        summary: 'make machines nodes, over ssh',
        load: () => import('./cli/add.ts'),
      },
      {
        within: 'node',
        name: 'upgrade',
        before: 'drain',
        summary: 'bring machines to this release, over ssh; their jobs go on',
        load: async () => ({ verb: (await import('./cli/add.ts')).upgrade }),
      },
      {
        within: 'node',
        name: 'uninstall',
        after: 'remove',
        summary: 'take Weft off machines, over ssh',
        load: () => import('./cli/uninstall.ts'),
      },
    ],
  },
};
