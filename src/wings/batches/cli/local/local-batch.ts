// A whole batch on this machine, without a cluster: staged, built once, its jobs side by side, each
// archived when it ends.

import { hostname } from 'node:os';
import path from 'node:path';
import { plural } from '../../../../kernel/base/plural.ts';
import type { Environment } from '../../../../kernel/config/config.ts';
import { type Glob, parseGlob } from '../../../../kernel/files/glob.ts';
import { BUILD_FOLDER, type Manifest, WORK_FOLDER } from '../../../../kernel/files/manifest.ts';
import { usage } from '../../../../kernel/model/failure.ts';
import { beginBatch, removeHalves } from '../../batch/archive/batch-folder.ts';
import { physicalCores } from '../../batch/cores.ts';
import { removeTree } from '../../batch/files/remove.ts';
import { inputsDigest, Stage } from '../../batch/files/stage.ts';
import type { BatchReading } from '../../batch/read/read-batch.ts';
import type { BatchFile, BatchJob } from '../../core/batch.ts';
import { canBind } from '../../core/containers.ts';
import { type Budget, type Demand, runWithin } from './budget.ts';
import { type Built, build } from './build.ts';
import { runJob } from './job.ts';
import { type BatchPlace, pendingJobs } from './place.ts';
import { type Stops, Workshop } from './workshop.ts';

/** Refuses jobs that could never have what they ask for here. */
function checkGpus({ jobs }: Pick<BatchFile, 'jobs'>, gpuCount: number): void {
  const over = jobs.find((job) => (job.gpuCount ?? 0) > gpuCount);
  if (over === undefined) return;
  const has = gpuCount === 0 ? 'none' : String(gpuCount);
  throw usage(
    `job ${over.name} asks for ${plural(over.gpuCount ?? 0, 'gpu')}; this machine has ${has}`,
  );
}

class Gpus {
  readonly #free: number[];

  constructor(gpuCount: number) {
    this.#free = Array.from({ length: gpuCount }, (_, number) => number);
  }

  /** The lowest that are free: whoever asks has seen that there are so many. */
  take(count: number): readonly number[] {
    return this.#free.splice(0, count);
  }

  giveBack(numbers: readonly number[]): void {
    this.#free.push(...numbers);
    this.#free.sort((a, b) => a - b);
  }
}

/** What a job sees of them; one that says nothing of gpus sees what there is. */
function gpuVariables(
  gpuCount: number | null,
  numbers: readonly number[],
): Readonly<Record<string, string>> {
  if (gpuCount === null) return {};
  const list = numbers.join(',');
  return { WEFT_GPUS: list, CUDA_VISIBLE_DEVICES: list };
}

/**
 * Which jobs of a local run may start: those that come after others wait for them, and are left
 * out where one of those did not complete.
 */
type Ordered = Pick<BatchJob, 'name' | 'after'>;

class Order {
  /** What runs in this run: the rest completed in an earlier one. */
  readonly #open: Set<string>;
  readonly #missing = new Set<string>();

  constructor(pending: readonly Ordered[]) {
    this.#open = new Set(pending.map(({ name }) => name));
  }

  isReady({ after }: Ordered): boolean {
    return !after.some((name) => this.#open.has(name));
  }

  /** The first that it comes after and that did not complete. */
  missingOf({ after }: Ordered): string | undefined {
    return after.find((name) => this.#missing.has(name));
  }

  /** Notes that a job is over. */
  note({ name }: Ordered, isCompleted: boolean): void {
    this.#open.delete(name);
    if (!isCompleted) this.#missing.add(name);
  }
}

export interface LocalParts {
  readonly reading: BatchReading;
  readonly place: BatchPlace;
  /** Null: as many as there are cpus and memory for. */
  readonly atOnce: number | null;
  readonly machine: Demand;
  readonly environment: Environment;
  readonly stops: Stops;
  readonly on: LocalEvents;
}

export interface LocalEvents {
  doubt(text: string): void;
  /** `done` completed in an earlier run. */
  begun(pending: number, done: number): void;
  building(log: string): void;
  ended(manifest: Manifest): void;
  /** Not started: this one, which it comes after, did not complete. */
  skipped(job: string, after: string): void;
}

export interface LocalSummary {
  /** Jobs that have completed, in this run or before. */
  readonly done: number;
  readonly jobs: number;
}

/** Runs a batch here. The caller holds the lock, and has ended what earlier runs left running. */
export async function runLocalBatch(parts: LocalParts): Promise<LocalSummary> {
  const { reading, place } = parts;
  const work = path.join(place.folder, WORK_FOLDER);
  checkBinds(reading.batch, work);
  checkGpus(reading.batch, parts.machine.gpuCount);
  await removeTree(work);
  await removeHalves(place.folder);
  try {
    return await new LocalBatch(parts, work).run();
  } finally {
    await removeTree(work);
  }
}

class LocalBatch {
  readonly #parts: LocalParts;
  readonly #work: string;
  readonly #batch: BatchFile;
  #done = 0;

  constructor(parts: LocalParts, work: string) {
    this.#parts = parts;
    this.#work = work;
    const { namespace } = parts.reading.batch;
    this.#batch = { ...parts.reading.batch, namespace, name: parts.place.name };
  }

  async run(): Promise<LocalSummary> {
    const { reading, place, on, stops, environment } = this.#parts;
    const batch = this.#batch;
    const stage = await Stage.make(reading, path.join(this.#work, 'staged'));
    const inputs = new Map(batch.jobs.map((job) => [job.name, inputsDigest(batch, job, stage)]));
    const { pending, doubts } = pendingJobs(batch, place.folder, inputs);
    for (const doubt of doubts) on.doubt(doubt);
    await beginBatch(place.folder, {
      version: 1,
      namespace: batch.namespace,
      name: batch.name,
      origin: batch.origin,
      begunAt: Date.now(),
      jobs: batch.jobs.map(({ name }) => name),
    });
    const doneBefore = batch.jobs.length - pending.length;
    on.begun(pending.length, doneBefore);
    const shop = { batch, stage, folder: this.#work, node: hostname(), environment, stops };
    if (pending.length > 0) await this.#runAll(new Workshop(shop), pending, inputs);
    return { done: doneBefore + this.#done, jobs: batch.jobs.length };
  }

  async #runAll(
    workshop: Workshop,
    pending: readonly BatchJob[],
    inputs: ReadonlyMap<string, string>,
  ): Promise<void> {
    const { place, on, stops, atOnce, machine } = this.#parts;
    const log = path.join(place.folder, BUILD_FOLDER, `${workshop.node}.log`);
    const { solver } = this.#batch;
    if (solver !== null) on.building(log);
    const cores = physicalCores();
    const built = await this.#build(workshop, log, cores);
    if (built === null) return;
    const { outputs } = this.#batch;
    // An empty list would take everything, and says that nothing is kept.
    const globs = (outputs.length === 0 ? ['!**'] : outputs).flatMap(globOf);
    const order = new Order(pending);
    const gpus = new Gpus(machine.gpuCount);
    const runOne = async ({ job, cpuCount, gpuCount }: QueuedJob): Promise<void> => {
      const missing = order.missingOf(job);
      if (missing !== undefined) {
        order.note(job, false);
        return on.skipped(job.name, missing);
      }
      const numbers = gpus.take(gpuCount);
      const of = { job, cpuCount, built, globs, inputs: inputs.get(job.name) ?? '' };
      const more = { batchFolder: place.folder, gpus: gpuVariables(job.gpuCount, numbers) };
      const manifest = await runJob(workshop, { ...of, ...more });
      gpus.giveBack(numbers);
      const isCompleted = manifest.outcome === 'completed';
      order.note(job, isCompleted);
      if (isCompleted) this.#done += 1;
      on.ended(manifest);
    };
    const waiting = pending.map((job) => demandOf(job, cores, atOnce));
    await runWithin(budgetOf(machine, atOnce), {
      waiting,
      run: runOne,
      isStopped: () => stops.stop.aborted,
      isReady: ({ job }) => order.isReady(job),
    });
  }

  /** Null when it was told to end before the solver was ready. */
  async #build(workshop: Workshop, log: string, cores: number): Promise<Built | null> {
    const { stop } = this.#parts.stops;
    if (stop.aborted) return null;
    try {
      return await build(workshop, log, cores);
    } catch (error) {
      if (stop.aborted) return null;
      throw error;
    }
  }
}

interface QueuedJob extends Demand {
  readonly job: BatchJob;
}

function demandOf(job: BatchJob, cores: number, atOnce: number | null): QueuedJob {
  const all = Math.max(1, Math.floor(cores / (atOnce ?? 1)));
  const { cpuCount, memoryBytes, gpuCount } = job;
  return {
    job,
    cpuCount: cpuCount ?? all,
    memoryBytes: memoryBytes ?? 0,
    gpuCount: gpuCount ?? 0,
  };
}

/** No two jobs have one gpu, however many somebody wants at once. */
function budgetOf(machine: Demand, atOnce: number | null): Budget {
  if (atOnce === null) return { ...machine, jobsMax: Number.POSITIVE_INFINITY };
  const unbounded = Number.POSITIVE_INFINITY;
  return { ...machine, cpuCount: unbounded, memoryBytes: unbounded, jobsMax: atOnce };
}

function globOf(text: string): Glob[] {
  const glob = parseGlob(text);
  return glob.ok ? [glob.value] : [];
}

function checkBinds({ solver }: BatchFile, work: string): void {
  if (solver === null || solver.kind === 'build' || canBind([work])) return;
  throw usage(
    `--save-dir: containers cannot be given ${work}: its path has a ':' or ',' in it`,
    'Keep the results in another folder.',
  );
}
