// A command of this machine, for as long as nodes are held for it.

import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import type { Context } from '../../../kernel/cli/context.ts';
import type { Held } from './allocation.ts';

/** Hangs the process up when its end of a pipe is closed before a word has come. */
const WATCH = 'read -r over <&3 || kill -s HUP "$1"';

/**
 * Has a command hung up should this process be killed, which then cannot do it. The watch has no
 * terminal: no key ends it. Returns what ends it; where it cannot be started all else goes on.
 */
function hangUpAfterUs(pid: number | undefined): () => void {
  if (pid === undefined) return () => undefined;
  const argv = ['-c', WATCH, 'sh', String(pid)];
  const stdio = ['ignore', 'ignore', 'ignore', 'pipe'] as const;
  const watch = spawn('/bin/sh', argv, { stdio: [...stdio], detached: true });
  watch.on('error', () => undefined).unref();
  const line = watch.stdio[3] as Socket | null | undefined;
  line?.on('error', () => undefined).unref();
  return () => void line?.end('over\n');
}

/** A command of this machine; what it finds says which job it is for. */
export async function runHere(
  context: Context,
  words: readonly string[],
  { id, nodes, lost }: Held,
  more: Readonly<Record<string, string>> = {},
): Promise<number> {
  const [program = context.environment['SHELL'] || '/bin/sh', ...args] = words;
  const child = spawn(program, args, {
    stdio: 'inherit',
    env: {
      ...context.environment,
      WEFT_JOB_ID: id,
      WEFT_TASK_ID: id,
      WEFT_NODELIST: nodes.join(','),
      WEFT_NODE_COUNT: String(nodes.length),
      ...more,
    },
  });
  const isOver = hangUpAfterUs(child.pid);
  // Keys are the child's; what is sent to us alone is passed on.
  const ignore = (): void => undefined;
  const pass = (name: NodeJS.Signals): void => void child.kill(name);
  process.on('SIGINT', ignore).on('SIGQUIT', ignore).on('SIGTERM', pass).on('SIGHUP', pass);
  void lost.then(() => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    context.note(`job ${id} has ended; its command here is hung up`);
    child.kill('SIGHUP');
  });
  try {
    return await new Promise<number>((resolve) => {
      child.once('error', ({ message }) => {
        context.note(`${program} cannot be started: ${message}`);
        resolve(127);
      });
      child.once('close', (code, signal) => {
        resolve(code ?? 128 + (constants.signals[signal ?? 'SIGKILL'] ?? 0));
      });
    });
  } finally {
    isOver();
    process.off('SIGINT', ignore).off('SIGQUIT', ignore).off('SIGTERM', pass).off('SIGHUP', pass);
  }
}
