// The Log port: JSON lines by pino, to a file that logrotate may move away, or to standard error.

import pino, { type DestinationStream } from 'pino';
import type { Log, LogFields } from '../ports/log.ts';
import { LogFile } from './log-file.ts';

export interface LogOptions {
  /** Null = standard error. */
  readonly file: string | null;
  readonly level?: 'debug' | 'info' | 'warn' | 'error';
  /** In every line: which program this is. */
  readonly name: string;
}

export interface FileLog extends Log {
  /** Stops listening for SIGHUP. */
  close(): void;
}

/** Opens the file again on SIGHUP, as logrotate expects. Lines are written in whole, in order. */
export function openLog({ file, level = 'info', name }: LogOptions): FileLog {
  const base = { name, pid: process.pid };
  const lines = file === null ? null : new LogFile(file);
  const destination: DestinationStream = lines ?? pino.destination({ dest: 2, sync: true });
  const logger = pino({ level, base }, destination);
  lines?.onRoom((lost) => logger.warn({ lost }, 'lines are missing here; the log had no room'));
  const reopen = (): void => lines?.reopen();
  const endListening = onHangUp(reopen);
  return {
    debug: (fields, message) => logger.debug(readable(fields), message),
    info: (fields, message) => logger.info(readable(fields), message),
    warn: (fields, message) => logger.warn(readable(fields), message),
    error: (fields, message) => logger.error(readable(fields), message),
    close: () => {
      endListening();
      lines?.close();
    },
  };
}

/** Who listens for SIGHUP: a process of many nodes has a log for each, and Node one listener for all. */
const listeners = new Set<() => void>();
const tellAll = (): void => {
  for (const listener of listeners) listener();
};

/** Returns what ends it. */
function onHangUp(listener: () => void): () => void {
  if (listeners.size === 0) process.on('SIGHUP', tellAll);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) process.off('SIGHUP', tellAll);
  };
}

/** Errors under any name are written out with their stack; JSON alone would show `{}`. */
function readable(fields: LogFields): LogFields {
  const error = fields['error'];
  if (!(error instanceof Error)) return fields;
  return { ...fields, error: error.stack ?? error.message };
}
