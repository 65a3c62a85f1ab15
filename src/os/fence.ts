// The site's fence command: run without a shell, in a process group of its own, for a bounded time.

import { type ChildProcess, spawn } from 'node:child_process';
import type { Fence, FenceAnswer } from '../ports/fence.ts';

export interface FenceOptions {
  /** Program and arguments; `{node}` in any of them becomes the node's name. */
  readonly command: readonly string[];
  readonly timeoutMs: number;
}

/** Of the command's output, for the log. */
const TAIL_LENGTH = 500;
/** After the end of the command, for what is still in the pipes. */
const PIPES_MS = 500;

/** Exit code 0 is the only yes. */
export function systemFence({ command, timeoutMs }: FenceOptions): Fence {
  return {
    run(node) {
      const [program = '', ...args] = command.map((word) => word.replaceAll('{node}', node));
      try {
        return answerOf(start(program, args), timeoutMs);
      } catch (error) {
        // Of most errors Node.js tells by an event, of some (ENOTDIR, E2BIG) it throws.
        return Promise.resolve({ off: false, words: (error as Error).message });
      }
    },
  };
}

function start(program: string, args: readonly string[]): ChildProcess {
  return spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
}

function answerOf(child: ChildProcess, timeoutMs: number): Promise<FenceAnswer> {
  let tail = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      tail = `${tail}${text}`.slice(-TAIL_LENGTH);
    });
  }
  return new Promise((resolve) => {
    const end = (off: boolean, how: string): void => {
      clearTimeout(timer);
      // Whatever it started may hold the pipes open; nobody reads them any more.
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve({ off, words: [how, tail.trim()].filter(Boolean).join(': ') });
    };
    const timer = setTimeout(() => {
      killGroup(child);
      end(false, `it took longer than ${timeoutMs} ms`);
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

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
