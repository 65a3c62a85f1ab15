// The wing `wiki` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';
import './api/paths.ts';

export const wiki: Wing = {
  name: 'wiki',
  needs: ['sites'],
  api: async () => (await import('./api/part.ts')).api,
  head: async (program) => (await import('./bin/head.ts')).headOf(program),
};
