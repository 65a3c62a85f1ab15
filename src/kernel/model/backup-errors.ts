// Refusals about backups of the head; `errors.ts` has all others.

export const BACKUP_CODES = {
  'backup.nowhere': {
    kind: 'invalid_argument',
    text: 'No folder for backups: give --to FOLDER, or set backup.to in the configuration.',
  },
  'backup.busy': {
    kind: 'failed_precondition',
    text: 'Backup {name} is being made; there is one at a time.',
  },
  'backup.failed': { kind: 'failed_precondition', text: 'No backup was made in {folder}: {why}.' },
  'backup.damaged': { kind: 'failed_precondition', text: 'Backup {folder}: {what}.' },
  'restore.not_empty': {
    kind: 'failed_precondition',
    text: '{folder} has the state of a head already; a backup is put back only where there is none.',
  },
  'restore.no_room': {
    kind: 'resource_exhausted',
    text: '{folder} has no room: the backup needs {needed}, {free} are free.',
  },
} as const;
