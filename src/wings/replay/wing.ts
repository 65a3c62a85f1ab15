// The wing `replay` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';

export const replay: Wing = {
  name: 'replay',
  needs: [],
};
