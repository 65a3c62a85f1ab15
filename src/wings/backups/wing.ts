// The wing `backups` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';
import './api/paths.ts';

export const backups: Wing = {
  name: 'backups',
  needs: [],
  cli: {
    verbs: [
      {
        group: 'Administration:',
        name: 'backup',
        before: 'doctor',
        summary: 'a copy of the head, made while it runs',
        load: () => import('./cli/backup-verb.ts'),
      },
      {
        group: 'Administration:',
        name: 'restore',
        before: 'doctor',
        summary: 'put a backup of a head back',
        load: () => import('./cli/restore-verb.ts'),
      },
    ],
    checks: [
      {
        name: 'backups',
        after: 'head',
        check: async (context) => (await import('./cli/doctor.ts')).backupFindings(context),
      },
    ],
  },
  keys: async () => (await import('./config/backup-keys.ts')).keys,
  options: async () => (await import('./config/backup-options.ts')).options,
  api: async () => (await import('./api/part.ts')).api,
  head: async (program) => (await import('./bin/head.ts')).headOf(program),
};
