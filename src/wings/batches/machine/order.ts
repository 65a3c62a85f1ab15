// Jobs of a batch that come after other jobs of it: in which order its parts are made, and what
// each of them waits for. A part of what runs again waits for what runs by then, not for what is
// over.

import { parseIndices } from '../../../kernel/machine/jobs/indices.ts';
import type { Accepted } from '../../../kernel/machine/jobs/submit.ts';
import type { Step } from '../../../kernel/machine/step.ts';
import { brokenDependency } from '../../../kernel/machine/tasks/ending.ts';
import type { JobId } from '../../../kernel/model/ids.ts';
import type { Dependency } from '../../../kernel/model/job.ts';
import type { Batch } from './facts.ts';
import { currentParts } from './standing.ts';

/** A part that is to be made. */
export interface Placed {
  /** The jobs of the batch that it runs. */
  readonly numbers: Iterable<number>;
  /** Those that have to complete before. */
  readonly after?: Iterable<number> | undefined;
}

/** Those that others wait for first; null: there is a circle. */
export function inOrder<T extends Placed>(parts: readonly T[]): readonly T[] | null {
  if (parts.every(({ after }) => after === undefined)) return parts;
  const partOf = new Map<number, T>();
  for (const part of parts) for (const number of part.numbers) partOf.set(number, part);
  const before = new Map<T, ReadonlySet<T>>();
  for (const part of parts) {
    before.set(part, new Set([...(part.after ?? [])].flatMap((one) => partOf.get(one) ?? [])));
  }
  const ordered = new Set<T>();
  while (ordered.size < parts.length) {
    const next = parts.filter((part) => {
      return !ordered.has(part) && [...(before.get(part) ?? [])].every((one) => ordered.has(one));
    });
    if (next.length === 0) return null;
    for (const part of next) ordered.add(part);
  }
  return [...ordered];
}

/** Which job of the cluster runs each job of a batch, as parts are made. */
export class Runs {
  readonly #step: Step;
  readonly #batch: Batch | undefined;
  readonly #jobs = new Map<number, JobId>();

  constructor(step: Step, title: string) {
    this.#step = step;
    this.#batch = step.state.batches.get(title);
    if (this.#batch === undefined) return;
    for (const { part, numbers } of currentParts(this.#batch)) this.#note(part.jobId, numbers);
  }

  /** The last part of the batch has just been made. */
  noteLast(): void {
    const part = this.#batch?.parts.at(-1);
    if (part === undefined) return;
    this.#note(
      part.jobId,
      [...part.items].map((item) => part.numbers[item] as number),
    );
  }

  /** With what it waits for in its batch: those parts are there by now. */
  behind(part: Accepted): Accepted {
    const after = part.spec.batch?.after;
    if (after === undefined) return part;
    const { state } = this.#step;
    const dependencies: Dependency[] = [];
    const open: JobId[] = [];
    let { broken } = part;
    for (const jobId of this.#with([...parseIndices(after)])) {
      const dependency = { jobId, condition: 'ok' } as const;
      const outcome = state.jobs.get(jobId)?.outcome;
      dependencies.push(dependency);
      if (outcome == null) open.push(jobId);
      else broken ??= brokenDependency(dependency, outcome.kind);
    }
    const spec = { ...part.spec, dependencies: [...part.spec.dependencies, ...dependencies] };
    if (broken !== null) return { ...part, spec, waitsFor: [], behind: [], broken };
    return { ...part, spec, waitsFor: [...new Set([...part.waitsFor, ...open])] };
  }

  /** What has completed is no matter any more. */
  #with(numbers: readonly number[]): Set<JobId> {
    const completed = this.#batch?.ended.get('completed');
    const found = numbers.filter((number) => completed?.has(number) !== true);
    const known = (jobId: JobId) => this.#step.state.jobs.has(jobId);
    return new Set(found.flatMap((number) => this.#jobs.get(number) ?? []).filter(known));
  }

  #note(jobId: JobId, numbers: Iterable<number>): void {
    for (const number of numbers) this.#jobs.set(number, jobId);
  }
}

/** Only batches that have an order are walked for it. */
export function runsOf(step: Step, parts: readonly Accepted[], title: string): Runs | null {
  return parts.some(({ spec }) => spec.batch?.after !== undefined) ? new Runs(step, title) : null;
}
