// Words for how the process of a call ended.

export interface ProcessEnd {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The exit code that it announced; null when it ended without a word. */
  readonly asked: number | null;
  readonly isKilled: boolean;
  readonly wasOomKilled: boolean;
  /** The last lines of its standard error. */
  readonly lines: readonly string[];
  /** None has come since its call was heard to begin: they may be of a call before. */
  readonly isOlder?: boolean;
}

const LINES = 5;
const LINE_CHARACTERS = 300;
const HEAP = /FATAL ERROR: (.*JavaScript heap out of memory)/;

export function wordsOfEnd(end: ProcessEnd): string {
  const heap = end.lines.map((line) => HEAP.exec(line)?.[1]).find((one) => one !== undefined);
  // V8 prints pages about it, of which one line says all.
  if (heap !== undefined) return `Its process ran out of memory: ${heap}`;
  if (end.wasOomKilled && end.signal === 'SIGKILL')
    return 'Its process ran out of memory: the kernel killed it at the memory limit';
  const words = how(end);
  const last = end.lines.slice(-LINES).map((line) => line.slice(0, LINE_CHARACTERS));
  const whose = end.isOlder ? ', which may be from before this call' : '';
  return last.length === 0 ? words : `${words}; its last lines${whose}: ${last.join(' | ')}`;
}

function how({ exitCode, signal, asked, isKilled }: ProcessEnd): string {
  if (isKilled) return 'Its process was ended by Weft';
  if (asked !== null) return `process.exit(${asked | 0}) was called`;
  if (signal === null) return `Its process ended with exit code ${exitCode}`;
  const known = SIGNALS[signal];
  return `Its process was ended by ${signal}${known === undefined ? '' : ` (${known})`}`;
}

const SIGNALS: Readonly<Record<string, string>> = {
  SIGSEGV: 'a segmentation fault, mostly in a native module',
  SIGBUS: 'a bad memory access, mostly in a native module',
  SIGABRT: 'it aborted',
  SIGILL: 'an illegal instruction',
  SIGFPE: 'an arithmetic fault',
  SIGKILL: 'not by Weft',
  SIGTERM: 'not by Weft',
};
