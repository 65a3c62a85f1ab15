// The wing `sites` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';

export const sites: Wing = {
  name: 'sites',
  needs: [],
  elsewhere: async () => (await import('./bin/site-node.ts')).nodeAtSite,
};
