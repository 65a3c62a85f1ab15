// The Log port: JSON lines by pino, to a file that logrotate may move away, or to standard error;
// lines for people where that is a terminal.

import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { isatty } from 'node:tty';
import pino, { type DestinationStream } from 'pino';
import { toPlainLine } from '../base/plain-line.ts';
import type { Log, LogFields } from '../ports/log.ts';

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
  const destination: DestinationStream = lines ?? standardError();
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

/** Programs read a pipe, people a terminal. */
function standardError(): DestinationStream {
  if (!isatty(2)) return pino.destination({ dest: 2, sync: true });
  return { write: (line) => void writeSync(2, linesForPeople(line)) };
}

const LEVELS: Readonly<Record<number, string>> = { 20: 'debug: ', 40: 'warning: ', 50: 'error: ' };

/** `14:02:03 agent lab2: connected to the head (url https://…)`; a stack goes below. */
export function linesForPeople(json: string): string {
  const { time, name, msg, level, pid: _pid, ...fields } = JSON.parse(json) as LogFields;
  const clock = new Date(Number(time)).toTimeString().slice(0, 8);
  const told = Object.entries(fields).map(([key, value]) => [key, plain(value)] as const);
  const beside = told.filter(([, text]) => !text.includes('\n'));
  const below = told.filter(([, text]) => text.includes('\n'));
  const all = beside.map((pair) => pair.join(' ')).join(', ');
  const words = `${LEVELS[Number(level)] ?? ''}${plain(msg)}${all === '' ? '' : ` (${all})`}`;
  const line = `${clock} ${name}: ${words}`;
  return [line, ...below.map(([, text]) => text)].join('\n').concat('\n');
}

function plain(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text
    .split('\n')
    .map((line) => toPlainLine(line))
    .join('\n');
}

/** Logs that reopen at SIGHUP: a process of many nodes has one each, and one listener for all. */
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

// The file behind a log. What cannot be written is counted and said when there is room again: a
// program must not end because its log is full.

/** Names and commands of users are in it: for its owner and those that its group may be. */
const MODE = 0o640;

class LogFile {
  readonly #path: string;
  #file: number;
  /** Lines that could not be written since the last that could. */
  #lost = 0;
  /** The last line is there in part: the next must not go on in it. */
  #torn = false;
  #onRoom: (lost: number) => void = () => undefined;

  /** Opens or makes the file and its directory. Throws when it cannot. */
  constructor(path: string) {
    this.#path = path;
    mkdirSync(dirname(path), { recursive: true });
    this.#file = openSync(path, 'a', MODE);
  }

  /** `said` writes the line that tells how many are missing; it comes before the next line. */
  onRoom(said: (lost: number) => void): void {
    this.#onRoom = said;
  }

  write(line: string): void {
    const lost = this.#lost;
    if (lost > 0) {
      this.#lost = 0;
      this.#onRoom(lost);
      if (this.#lost > 0) {
        this.#lost = lost + 1;
        return;
      }
    }
    if (!this.#append(line)) this.#lost += 1;
  }

  /** After somebody has moved the file away; without success the old one goes on. */
  reopen(): void {
    try {
      const file = openSync(this.#path, 'a', MODE);
      closeSync(this.#file);
      this.#file = file;
    } catch {
      return; // Nowhere to say it but in the old file, which is still being written.
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  #append(line: string): boolean {
    const bytes = Buffer.from(this.#torn ? `\n${line}` : line);
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(this.#file, bytes, written);
    } catch {
      this.#torn ||= written > 0;
      return false; // Counted by the caller.
    }
    this.#torn = false;
    return true;
  }
}
