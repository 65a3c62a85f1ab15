// The wing `gpus` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';

export const gpus: Wing = {
  name: 'gpus',
  needs: ['owner'],
  agent: async () => (await import('./bin/agent.ts')).gpusOnNodes(),
  cli: {
    checks: [
      {
        name: 'gpus',
        after: 'head',
        check: async (context) => (await import('./cli/doctor.ts')).gpusOfNodes(context),
      },
    ],
  },
  keys: async () => (await import('./config/keys.ts')).keys,
  options: async () => (await import('./config/options.ts')).options,
};
