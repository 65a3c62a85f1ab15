// The wing `owner` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';

export const owner: Wing = {
  name: 'owner',
  needs: ['sites'],
  agent: async () => (await import('./bin/agent.ts')).ownerOnNodes(),
  cli: {
    verbs: [
      {
        group: 'Clusters:',
        name: 'pause',
        before: 'node',
        summary: 'take this machine back for a while',
        load: () => import('./cli/pause-verb.ts'),
      },
      {
        group: 'Clusters:',
        name: 'unpause',
        before: 'node',
        summary: 'end the pause of this machine',
        load: () => import('./cli/unpause-verb.ts'),
      },
    ],
    innerVerbs: [
      {
        within: 'node',
        name: 'watch-session',
        after: 'lost',
        summary: 'tell the nodes of this machine when somebody types in this session',
        load: () => import('./cli/watch-session/watch-session.ts'),
      },
    ],
    checks: [
      {
        name: 'owner',
        after: 'weft up',
        check: async (context) => (await import('./cli/doctor.ts')).ownerPresence(context),
      },
    ],
  },
  keys: async () => (await import('./config/pause-keys.ts')).keys,
  options: async () => (await import('./config/pause-options.ts')).options,
};
