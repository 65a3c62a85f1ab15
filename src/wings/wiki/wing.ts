// The wing `wiki` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';

export const wiki: Wing = {
  name: 'wiki',
  needs: ['sites'],
};
