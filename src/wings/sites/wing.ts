// The wing `sites` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';
import './machine/declared.ts';

export const sites: Wing = {
  name: 'sites',
  needs: [],
  machine: async () => (await import('./machine/part.ts')).part,
  elsewhere: async () => (await import('./bin/site-node.ts')).nodeAtSite,
};
