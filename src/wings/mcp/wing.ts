// The wing `mcp` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';

export const mcp: Wing = {
  name: 'mcp',
  needs: [],
  cli: {
    verbs: [
      {
        group: 'Overview:',
        name: 'mcp',
        after: 'ui',
        summary: 'serve this cluster to programs that act for you',
        load: () => import('./cli/verb.ts'),
      },
    ],
  },
};
