// The wing `notify` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';
import './machine/declared.ts';
import './api/paths.ts';

export const notify: Wing = {
  name: 'notify',
  needs: [],
  machine: async () => (await import('./machine/part.ts')).part,
  cli: {
    checks: [
      {
        name: 'notifications',
        after: 'head',
        check: async (context) => (await import('./cli/doctor.ts')).notifierFindings(context),
      },
    ],
  },
  keys: async () => (await import('./config/notify-keys.ts')).keys,
  options: async () => (await import('./config/notify-options.ts')).options,
  api: async () => (await import('./api/part.ts')).api,
  head: async (program) => (await import('./bin/head.ts')).headOf(program),
};
