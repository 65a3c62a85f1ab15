// The wing `replay` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';

export const replay: Wing = {
  name: 'replay',
  needs: [],
  cli: {
    verbs: [
      {
        group: 'Overview:',
        name: 'replay',
        before: 'reserve',
        summary: 'try a policy on a trace or on the history',
        load: () => import('./cli/replay-verb.ts'),
      },
      {
        group: 'Overview:',
        name: 'simulate',
        before: 'reserve',
        summary: 'try a policy on a generated workload',
        load: () => import('./cli/simulate-verb.ts'),
      },
    ],
  },
};
