// The wing `batches` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';

export const batches: Wing = {
  name: 'batches',
  needs: ['notify', 'replay'],
  cli: {
    verbs: [
      {
        group: 'Jobs:',
        name: 'batch',
        after: 'submit',
        summary: 'jobs of one file, with their files',
        load: () => import('./cli/verb.ts'),
      },
    ],
    completions: {
      operands: {
        batch: { offers: async (context) => (await import('./cli/offers.ts')).batches(context) },
      },
    },
  },
};
