// The wing `goals` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';

export const goals: Wing = {
  name: 'goals',
  needs: ['sites'],
};
