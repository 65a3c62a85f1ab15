// The wing `notices` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';
import './machine/declared.ts';
import './api/paths.ts';

export const notices: Wing = {
  name: 'notices',
  needs: [],
  machine: async () => (await import('./machine/part.ts')).part,
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
  api: async () => (await import('./api/part.ts')).api,
  head: async () => (await import('./head/part.ts')).head,
};
