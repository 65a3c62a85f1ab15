// The wing `lab` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';
import './api/paths.ts';

export const lab: Wing = {
  name: 'lab',
  needs: ['rollout', 'owner'],
  keys: async () => (await import('./config/history-keys.ts')).keys,
  options: async () => (await import('./config/history-options.ts')).options,
  api: async () => (await import('./api/part.ts')).api,
  head: async (program) => (await import('./bin/head.ts')).headOf(program),
  cli: {
    verbs: [
      {
        group: 'Clusters:',
        name: 'setup',
        before: 'head',
        summary: 'give this machine its part in a cluster',
        load: () => import('./cli/setup/setup.ts'),
      },
      {
        group: 'Clusters:',
        name: 'upgrade',
        before: 'head',
        summary: 'see what another release will find',
        load: () => import('./cli/upgrade.ts'),
      },
      {
        group: 'Overview:',
        name: 'report',
        before: 'reserve',
        summary: 'a month of the cluster as a page for a mail',
        load: () => import('./cli/report.ts'),
      },
    ],
    checks: [
      {
        name: 'room',
        after: 'head',
        check: async (context) => (await import('./cli/room-check.ts')).roomFindings(context),
      },
      {
        name: 'machines',
        after: 'head',
        check: async (context, { cluster }) =>
          cluster === false
            ? []
            : (await import('./cli/cluster-check.ts')).machinesOf(context, cluster),
      },
    ],
    completions: {
      options: {
        template: {
          offers: async () =>
            (await import('./cli/templates/templates.ts')).TEMPLATES.map(({ name, summary }) => [
              name,
              summary,
            ]),
        },
      },
    },
    templates: async () => (await import('./cli/templates/templates.ts')).TEMPLATES,
  },
};
