// The wing `notify` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';

export const notify: Wing = {
  name: 'notify',
  needs: [],
};
