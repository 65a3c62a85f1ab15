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
  const lines = file === null ? new LogOutput(2) : new LogFile(file);
  const destination = file === null && isatty(2) ? forPeople(lines) : lines;
  const logger = pino({ level, base }, destination);
  lines.onRoom((lost) => logger.warn({ lost }, 'lines are missing here; the log had no room'));
  const endListening = onHangUp(() => lines.reopen());
  return {
    debug: (fields, message) => logger.debug(readable(fields), message),
    info: (fields, message) => logger.info(readable(fields), message),
    warn: (fields, message) => logger.warn(readable(fields), message),
    error: (fields, message) => logger.error(readable(fields), message),
    close: () => {
      endListening();
      lines.close();
    },
  };
}

/** Programs read a pipe, people a terminal. */
function forPeople(lines: LogOutput): DestinationStream {
  return { write: (line) => lines.write(linesForPeople(line)) };
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

// What is behind a log. What cannot be written is counted and said when there is room again: a
// program must not end because its log is full, or because its terminal has gone.

/** Names and commands of users are in it: for its owner and those that its group may be. */
const MODE = 0o640;
/** How long a pipe that does not block is waited for: its reader may have much to do. */
const FULL_PIPE_MS = 250;
const FULL_PIPE_LOOK_MS = 10;

/** A file that is open already, as standard error: whoever started this program closes it. */
class LogOutput {
  protected file: number;
  /** Lines that could not be written since the last that could. */
  #lost = 0;
  /** The last line is there in part: the next must not go on in it. */
  #torn = false;
  /** A pipe that nobody read for so long is not waited for again until somebody does. */
  #stuck = false;
  #onRoom: (lost: number) => void = () => undefined;

  constructor(file: number) {
    this.file = file;
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

  reopen(): void {}

  close(): void {}

  #append(line: string): boolean {
    const bytes = Buffer.from(this.#torn ? `\n${line}` : line);
    let written = 0;
    const until = performance.now() + (this.#stuck ? 0 : FULL_PIPE_MS);
    while (written < bytes.length) {
      try {
        written += writeSync(this.file, bytes, written);
      } catch (error) {
        this.#stuck = (error as NodeJS.ErrnoException).code === 'EAGAIN';
        if (this.#stuck && performance.now() < until) {
          Atomics.wait(NEVER, 0, 0, FULL_PIPE_LOOK_MS);
          continue;
        }
        this.#torn ||= written > 0;
        return false; // Counted by the caller.
      }
    }
    this.#torn = false;
    this.#stuck = false;
    return true;
  }
}

const NEVER = new Int32Array(new SharedArrayBuffer(4));

class LogFile extends LogOutput {
  readonly #path: string;

  /** Opens or makes the file and its directory. Throws when it cannot. */
  constructor(path: string) {
    mkdirSync(dirname(path), { recursive: true });
    super(openSync(path, 'a', MODE));
    this.#path = path;
  }

  /** After somebody has moved the file away; without success the old one goes on. */
  override reopen(): void {
    try {
      const file = openSync(this.#path, 'a', MODE);
      closeSync(this.file);
      this.file = file;
    } catch {
      return; // Nowhere to say it but in the old file, which is still being written.
    }
  }

  override close(): void {
    closeSync(this.file);
  }
}
