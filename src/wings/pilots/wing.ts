// The wing `pilots` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';
import './machine/declared.ts';

export const pilots: Wing = {
  name: 'pilots',
  needs: ['sites'],
  machine: async () => (await import('./machine/part.ts')).part,
};
