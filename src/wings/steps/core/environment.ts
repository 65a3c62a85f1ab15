// What a step finds in its environment: what its task has, with its own laid over.

import type { StartWish } from './told.ts';

/** Only the agent gives these a value. */
const OURS = /^(WEFT_|CM_)/;
/** Whether a step finds the value that whoever asks for it has for this name. */
export function isAskable(name: string): boolean {
  return !OURS.test(name) && !name.includes('=');
}

/**
 * The helper binds its program to these: its own, without which it fails (`IS_BOUND`), or else
 * those that its task is kept to, where the kernel lets it.
 */
const CPUS = 'WEFT_CPUSET';
const IS_BOUND = 'WEFT_STEP_BOUND';

/**
 * `NAME=value`. `mark`: by which the end of its task finds it; the helper hands it on. `cpus`:
 * null: to none of its own.
 */
export function stepEnvironment(
  task: readonly string[],
  { step, rank, count, environment, terminal, pmi = false }: StartWish,
  mark: string,
  cpus: string | null = null,
): string[] {
  const asked = Object.entries(environment).filter(([name, value]) => {
    return isAskable(name) && !`${name}${value}`.includes('\0');
  });
  const own: [string, string][] = [
    ...asked,
    ['WEFT_STEP_ID', step],
    ['WEFT_STEP_RANK', String(rank)],
    ['WEFT_STEP_COUNT', String(count)],
    ['WEFT_STEP_MARK', mark],
  ];
  // The helper hands on a socket for it, and no mark of ours.
  if (pmi) {
    own.push(['PMI_RANK', String(rank)], ['PMI_SIZE', String(count)], ['WEFT_STEP_PMI', '1']);
  }
  if (cpus !== null) own.push([CPUS, cpus], [IS_BOUND, '1']);
  if (terminal !== null) own.push(['WEFT_STEP_PTY', `${terminal.rows}x${terminal.columns}`]);
  const names = new Set(own.map(([name]) => name));
  const kept = task.filter((entry) => !names.has(entry.slice(0, entry.indexOf('='))));
  return [...kept, ...own.map(([name, value]) => `${name}=${value}`)];
}
