// The wing `notices` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';
import './machine/declared.ts';

export const notices: Wing = {
  name: 'notices',
  needs: [],
  machine: async () => (await import('./machine/part.ts')).part,
};
