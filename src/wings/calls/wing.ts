// The wing `calls` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';
import './api/paths.ts';

export const calls: Wing = {
  name: 'calls',
  needs: ['pilots'],
  api: async () => (await import('./api/part.ts')).api,
  head: async () => (await import('./head/part.ts')).head,
};
