// What the configuration says of backups.

import type { Config } from '../../../kernel/config/config.ts';
import type { OptionsPart } from '../../../kernel/config/part.ts';

export interface BackupOptions {
  /** An absolute path; null: none is made by itself. */
  readonly to: string | null;
  readonly everyMs: number;
  readonly keep: number;
  /** A file with the keys of the bucket; absent: they are in the environment. */
  readonly keysFile?: string;
  /** The files of the configuration, which a backup has as well. */
  readonly configuration: readonly string[];
}

declare module '../../../kernel/config/daemon-options.ts' {
  interface HeadOptions {
    /** Where backups go, and how often one is made. */
    readonly backup?: BackupOptions;
  }
}

export function backupOptions(config: Config): BackupOptions {
  const keysFile = config.text('backup.keys_file');
  const options: BackupOptions = {
    to: config.text('backup.to'),
    everyMs: config.number('backup.every'),
    keep: config.number('backup.keep'),
    configuration: config.file?.split(' and ') ?? [],
  };
  return keysFile === null ? options : { ...options, keysFile };
}

export const options: OptionsPart = { head: (config) => ({ backup: backupOptions(config) }) };
