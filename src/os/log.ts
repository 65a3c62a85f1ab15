// The Log port: JSON lines by pino, to a file that logrotate may move away, or to standard error.

import pino from 'pino';
import type { Log, LogFields } from '../ports/log.ts';

export interface LogOptions {
  /** Null = standard error. */
  readonly file: string | null;
  readonly level?: 'debug' | 'info' | 'warn' | 'error';
  /** In every line: which program this is. */
  readonly name: string;
}

export interface FileLog extends Log {
  /** Writes what is buffered and stops listening for SIGHUP. */
  close(): void;
}

/** Opens the file again on SIGHUP, as logrotate expects. Lines are written in whole, in order. */
export function openLog({ file, level = 'info', name }: LogOptions): FileLog {
  const options = file === null ? { dest: 2, sync: true } : { dest: file, sync: true, mkdir: true };
  const destination = pino.destination(options);
  const logger = pino({ level, base: { name, pid: process.pid } }, destination);
  const reopen = (): void => {
    if (file !== null) destination.reopen();
  };
  process.on('SIGHUP', reopen);
  return {
    debug: (fields, message) => logger.debug(readable(fields), message),
    info: (fields, message) => logger.info(readable(fields), message),
    warn: (fields, message) => logger.warn(readable(fields), message),
    error: (fields, message) => logger.error(readable(fields), message),
    close: () => {
      process.off('SIGHUP', reopen);
      destination.flushSync();
    },
  };
}

/** Errors under any name are written out with their stack; JSON alone would show `{}`. */
function readable(fields: LogFields): LogFields {
  const error = fields['error'];
  if (!(error instanceof Error)) return fields;
  return { ...fields, error: error.stack ?? error.message };
}
