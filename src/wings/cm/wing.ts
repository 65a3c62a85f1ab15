// The wing `cm` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';

export const cm: Wing = {
  name: 'cm',
  needs: [],
  cli: {
    programs: {
      cminfo: () => import('./cli/cminfo.ts'),
      cmrun: () => import('./cli/cmrun.ts'),
      cmkill: () => import('./cli/cmkill.ts'),
      cmconfigure: () => import('./cli/cmconfigure.ts'),
      cmdaemon: () => import('./cli/cmdaemon.ts'),
    },
  },
};
