// The wing `batches` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';
import './api/paths.ts';

export const batches: Wing = {
  name: 'batches',
  needs: ['notify', 'replay'],
  api: async () => (await import('./api/part.ts')).api,
  head: async () => (await import('./head/part.ts')).head,
};
