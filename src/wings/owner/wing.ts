// The wing `owner` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';

export const owner: Wing = {
  name: 'owner',
  needs: ['sites'],
  agent: async () => (await import('./bin/agent.ts')).ownerOnNodes(),
};
