// The wing `logins` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';
import './machine/declared.ts';
import './api/paths.ts';

export const logins: Wing = {
  name: 'logins',
  needs: ['owner'],
  machine: async () => (await import('./machine/part.ts')).part,
  agent: async () => (await import('./bin/agent.ts')).loginsOnNode,
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
    innerVerbs: [
      {
        within: 'node',
        name: 'trust',
        after: 'modify',
        summary: 'let nodes vouch for their users when these log in',
        load: () => import('./cli/trust.ts'),
      },
    ],
  },
  api: async () => (await import('./api/part.ts')).api,
  head: async () => (await import('./head/part.ts')).loginsHead(),
};
