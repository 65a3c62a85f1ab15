// The wing `notices` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';

export const notices: Wing = {
  name: 'notices',
  needs: [],
  cli: {
    verbs: [
      {
        group: 'Administration:',
        name: 'notice',
        before: 'qos',
        summary: 'a message that all users see',
        load: () => import('./cli/verb.ts'),
      },
    ],
    glance: async (context) => (await import('./cli/glance.ts')).glance(context),
  },
};
