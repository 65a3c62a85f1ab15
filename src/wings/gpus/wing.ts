// The wing `gpus` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';

export const gpus: Wing = {
  name: 'gpus',
  needs: ['owner'],
  agent: async () => (await import('./bin/agent.ts')).gpusOnNodes(),
  keys: async () => (await import('./config/keys.ts')).keys,
  options: async () => (await import('./config/options.ts')).options,
};
