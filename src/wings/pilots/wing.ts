// The wing `pilots` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';

export const pilots: Wing = {
  name: 'pilots',
  needs: ['sites'],
};
