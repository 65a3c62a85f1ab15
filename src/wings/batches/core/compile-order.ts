// `after` between jobs of a batch: names that are there, and no circle.

import { didYouMean } from '../../../kernel/base/nearest-word.ts';
import type { Findings } from '../../../kernel/files/findings.ts';
import type { ProblemPath } from '../../../kernel/files/problem.ts';
import { numbersByName } from './arrays.ts';
import type { BatchJob } from './batch.ts';

/** `places`: where each of the jobs is written. */
export function checkOrder(
  jobs: readonly BatchJob[],
  places: readonly ProblemPath[],
  findings: Findings,
): void {
  if (jobs.every(({ after }) => after.length === 0)) return;
  const numbers = numbersByName(jobs);
  for (const [number, { after }] of jobs.entries()) {
    for (const [index, name] of after.entries()) {
      if (numbers.has(name)) continue;
      const where = [...(places[number] as ProblemPath), 'after', index];
      findings.problem(where, unknownJob(name, [...numbers.keys()]));
    }
  }
  const circle = circleIn(jobs, numbers);
  if (circle === null) return;
  const names = circle.map((number) => jobs[number]?.name);
  const shown = names.length > 6 ? [...names.slice(0, 3), '…', ...names.slice(-2)] : names;
  const at = places[circle[0] as number] as ProblemPath;
  const what = `the job comes after itself: ${shown.join(' after ')}`;
  findings.problem([...at, 'after'], what);
}

/** Many names are not searched for what somebody meant. */
const NAMES_MAX = 1000;

function unknownJob(name: string, names: readonly string[]): string {
  const near = names.length > NAMES_MAX ? '' : didYouMean(name, names);
  const batches = name.includes('/') ? ' Batches stand in the `after` of the whole file.' : '';
  return `'${name}': expected the name of a job of this batch.${near}${batches}`;
}

/** Numbers of jobs, each after the next, the first again at the end; null: there is none. */
function circleIn(
  jobs: readonly BatchJob[],
  numbers: ReadonlyMap<string, number>,
): readonly number[] | null {
  const over = new Set<number>();
  for (const start of jobs.keys()) {
    // A loop, not a recursion: a chain may be longer than the call stack.
    const path: { readonly number: number; readonly left: number[] }[] = [];
    const enter = (number: number) => {
      const after = jobs[number]?.after ?? [];
      path.push({ number, left: after.flatMap((name) => numbers.get(name) ?? []) });
    };
    const onPath = new Map<number, number>();
    if (!over.has(start)) enter(start);
    onPath.set(start, 0);
    for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
      const next = last.left.pop();
      if (next === undefined) {
        over.add(last.number);
        onPath.delete(last.number);
        path.pop();
      } else if (onPath.has(next)) {
        return [...path.slice(onPath.get(next)).map(({ number }) => number), next];
      } else if (!over.has(next)) {
        onPath.set(next, path.length);
        enter(next);
      }
    }
  }
  return null;
}
