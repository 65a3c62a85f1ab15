// The wing `batches` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';
import './machine/declared.ts';
import './api/paths.ts';

export const batches: Wing = {
  name: 'batches',
  needs: ['notify', 'replay'],
  machine: async () => (await import('./machine/part.ts')).part,
  agent: async () => (await import('./bin/agent.ts')).batchesOnNode,
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
    jobId: async (operand, context) =>
      (await import('./cli/batch-as-job.ts')).refuseBatch(operand, context),
    completions: {
      operands: {
        batch: { offers: async (context) => (await import('./cli/offers.ts')).batches(context) },
      },
    },
  },
  api: async () => (await import('./api/part.ts')).api,
  head: async () => (await import('./head/part.ts')).head,
};
