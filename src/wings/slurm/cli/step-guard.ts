// What ends the ranks of a `srun` in a script that was killed itself, and tells the head of it: a
// shell that waits for a word from it, or for its end.

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Context } from '../../../kernel/cli/context.ts';
import { taskOf } from './task-of.ts';

/** By it the guard finds the ranks and what they have started. */
const MARK = 'WEFT_SRUN';
/** What the guard says to the `srun` that tells the head. */
export const KILLED = '--weft-killed';

/**
 * Hung up, and killed after as long as other steps; told again where the head is away. A grep that
 * knows no -z, as that of some busybox, would find none of them: then nothing is told.
 */
export const GUARD = `trap '' HUP INT QUIT TERM USR1 USR2
read -r said && exit 0
printf 'a\\0b\\0' | grep -qszxF b 2>/dev/null || exit 1
each() { for at in $(grep -lszxF "${MARK}=$mark" /proc/[0-9]*/environ 2>/dev/null); do
  pid=\${at#/proc/}; kill -s "$1" "\${pid%/environ}" 2>/dev/null; done; }
mark=$1; shift
each HUP; each CONT
for i in 1 2 3 4 5 6 7 8 9 10; do
  sleep 0.5
  grep -qszxF "${MARK}=$mark" /proc/[0-9]*/environ 2>/dev/null || break
done
each KILL
for i in 1 2 3 4; do "$@" && exit 0; sleep 15; done`;

export interface StepGuard {
  /** For each rank. */
  readonly variables: Readonly<Record<string, string>>;
  /** All ranks are over, and it is told. */
  over(): void;
}

/** `count`: ranks of the step; `number`: null where the head knows nothing of it. */
export function guardStep(
  context: Context,
  { number, count }: { readonly number: string | null; readonly count: number },
): StepGuard {
  const mark = randomUUID();
  const [, program = ''] = process.argv;
  const told =
    number === null ? ['true'] : [process.execPath, program, 'srun', KILLED, number, String(count)];
  const child = spawn('/bin/sh', ['-c', GUARD, 'srun', mark, ...told], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // Neither a terminal's signals nor those of its group reach it.
    detached: true,
    env: { ...context.environment, [MARK]: '' },
  });
  // Without it ranks run as well.
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.unref();
  return { variables: { [MARK]: mark }, over: () => child.stdin.end('over\n') };
}

/** Every rank was killed with its `srun`, as far as anybody knows. */
export async function tellKilled(context: Context, words: readonly string[]): Promise<number> {
  const [, number = '', count = '0'] = words;
  const id = taskOf(context.environment);
  const exits = Array.from({ length: Number(count) }, () => ({ signal: 9 }));
  const api = await context.api();
  await api.call('endStep', { params: { id, step: `${id}.${number}` }, body: { exits } });
  return 0;
}
