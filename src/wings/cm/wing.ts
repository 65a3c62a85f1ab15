// The wing `cm` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';

export const cm: Wing = {
  name: 'cm',
  needs: [],
};
