// The wing `manual` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';
import './api/paths.ts';

export const manual: Wing = {
  name: 'manual',
  needs: [],
  api: async () => (await import('./api/part.ts')).api,
  head: async () => (await import('./bin/head.ts')).head,
};
