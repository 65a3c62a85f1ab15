// The wing `batches` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';

export const batches: Wing = {
  name: 'batches',
  needs: ['notify', 'replay'],
  agent: async () => (await import('./bin/agent.ts')).batchesOnNode,
};
