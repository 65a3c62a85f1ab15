// The wing `distribute` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';

export const distribute: Wing = {
  name: 'distribute',
  needs: ['batches', 'owner'],
  cli: {
    programs: {
      distribute: async () => (await import('./cli/distribute.ts')).distribute,
    },
  },
};
