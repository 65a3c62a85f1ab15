// The wing `mpi` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';

export const mpi: Wing = {
  name: 'mpi',
  needs: [],
  agent: async () => (await import('./bin/agent.ts')).mpiOnNode,
};
