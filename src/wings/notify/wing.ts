// The wing `notify` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';
import './machine/declared.ts';

export const notify: Wing = {
  name: 'notify',
  needs: [],
  machine: async () => (await import('./machine/part.ts')).part,
};
