// The wing `notify` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';
import './api/paths.ts';

export const notify: Wing = {
  name: 'notify',
  needs: [],
  api: async () => (await import('./api/part.ts')).api,
  head: async (program) => (await import('./bin/head.ts')).headOf(program),
};
