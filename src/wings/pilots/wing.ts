// The wing `pilots` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';
import './machine/declared.ts';
import './api/paths.ts';

export const pilots: Wing = {
  name: 'pilots',
  needs: ['sites'],
  machine: async () => (await import('./machine/part.ts')).part,
  cli: {
    verbs: [
      {
        group: 'Clusters:',
        name: 'pilot',
        after: 'down',
        summary: 'nodes hosted by Slurm or Grid Engine',
        load: () => import('./cli/verb.ts'),
      },
    ],
    completions: {
      operands: {
        fleet: { offers: async (context) => (await import('./cli/offers.ts')).fleets(context) },
        pilot: { offers: async (context) => (await import('./cli/offers.ts')).pilots(context) },
        system: { offers: async () => (await import('./cli/offers.ts')).systems() },
      },
    },
  },
  api: async () => (await import('./api/part.ts')).api,
  head: async (program) => (await import('./bin/head.ts')).headOf(program),
};
