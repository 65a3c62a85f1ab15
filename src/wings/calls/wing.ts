// The wing `calls` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';
import './machine/declared.ts';

export const calls: Wing = {
  name: 'calls',
  needs: ['pilots'],
  machine: async () => (await import('./machine/part.ts')).part,
  agent: async () => (await import('./bin/agent.ts')).workersOnNode,
};
