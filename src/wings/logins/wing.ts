// The wing `logins` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';
import './api/paths.ts';

export const logins: Wing = {
  name: 'logins',
  needs: [],
  cli: {
    verbs: [
      {
        group: 'Clusters:',
        name: 'login',
        before: 'node',
        summary: 'get a token on a machine where you have none',
        load: () => import('./cli/login.ts'),
      },
    ],
  },
  api: async () => (await import('./api/part.ts')).api,
  head: async () => (await import('./head/part.ts')).loginsHead(),
};
