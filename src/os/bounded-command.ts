// A command of the site: run without a shell, in a process group of its own, for a bounded time, and
// with a bounded part of its output kept.

import { type ChildProcess, spawn } from 'node:child_process';
import { countMembers, ticksNow } from './launcher-fallback/members.ts';

export interface BoundedCommand {
  /** Program and arguments. */
  readonly command: readonly string[];
  readonly timeoutMs: number;
  /** What to keep of the output, given what was kept so far and what has come. */
  readonly keep: (kept: string, text: string) => string;
}

export interface CommandEnd {
  /** Exit code 0, and in time. */
  readonly succeeded: boolean;
  /** How it ended. */
  readonly how: string;
  /** Of standard output and standard error, in the order in which they came. */
  readonly output: string;
  /** Whether something of a command that was not in time still runs: no signal ends what hangs in the
   * kernel, and what sudo has made another's is not ours to kill. */
  readonly isThere: () => boolean;
}

/** After the end of the command, for what is still in the pipes. */
const PIPES_MS = 500;

/** Never rejects: what cannot be started has not succeeded. */
export function runBounded({ command, timeoutMs, keep }: BoundedCommand): Promise<CommandEnd> {
  const [program = '', ...args] = command;
  try {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    return endOf(child, timeoutMs, keep);
  } catch (error) {
    // Of most errors Node.js tells by an event, of some (ENOTDIR, E2BIG) it throws.
    const how = (error as Error).message;
    return Promise.resolve({ succeeded: false, how, output: '', isThere: () => false });
  }
}

function endOf(
  child: ChildProcess,
  timeoutMs: number,
  keep: BoundedCommand['keep'],
): Promise<CommandEnd> {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output = keep(output, text);
    });
  }
  return new Promise((resolve) => {
    const end = (succeeded: boolean, how: string, isThere = () => false): void => {
      clearTimeout(timer);
      // Whatever it started may hold the pipes open; nobody reads them any more.
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve({ succeeded, how, output, isThere });
    };
    const timer = setTimeout(() => {
      const why = killGroup(child);
      const left = why === null ? '' : `, and cannot be killed (${why})`;
      end(false, `it took longer than ${timeoutMs} ms${left}`, remains(child));
    }, timeoutMs);
    child.once('error', (error) => end(false, error.message));
    child.once('exit', (code, signal) => {
      const answer = (): void => end(code === 0, signal === null ? `exit code ${code}` : signal);
      child.once('close', answer);
      // Something that it has left behind may keep the pipes open for ever.
      setTimeout(answer, PIPES_MS);
    });
  });
}

/** Of its session only what was there at its end: its number may become another's. */
function remains(child: ChildProcess): () => boolean {
  const { pid = 0 } = child;
  const unmarked = { uid: 0, startTicks: 0, mark: undefined, isOthers: () => false };
  // As of its end: until then it may start more in its session.
  const isChildThere = (): boolean => child.exitCode === null && child.signalCode === null;
  let endedTicks = isChildThere() ? 0 : ticksNow();
  child.once('exit', () => {
    endedTicks = ticksNow();
  });
  return () => isChildThere() || countMembers({ ...unmarked, pid, isLive: false, endedTicks }) > 0;
}

/** Why not; null: it is gone. One run by sudo is not ours to kill (EPERM): no reason to end ourselves. */
function killGroup({ pid }: ChildProcess): string | null {
  if (pid === undefined) return null;
  try {
    process.kill(-pid, 'SIGKILL');
    return null;
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    return code === 'ESRCH' ? null : code;
  }
}
