// The wing `notices` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';

export const notices: Wing = {
  name: 'notices',
  needs: [],
};
