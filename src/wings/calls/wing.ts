// The wing `calls` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';

export const calls: Wing = {
  name: 'calls',
  needs: ['pilots'],
  agent: async () => (await import('./bin/agent.ts')).workersOnNode,
};
