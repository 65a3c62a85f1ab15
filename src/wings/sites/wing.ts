// The wing `sites` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';
import './api/paths.ts';

export const sites: Wing = {
  name: 'sites',
  needs: [],
  api: async () => (await import('./api/part.ts')).api,
  head: async () => (await import('./head/part.ts')).head,
};
