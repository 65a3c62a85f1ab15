// Pools are started, found, scaled and stopped through the API; their calls go over a line of their
// own.

import { freshKey } from '../../../kernel/connect/fresh-key.ts';
import {
  type ContainerImage,
  ENGINES,
  isImageName,
} from '../../../kernel/model/container-engine.ts';
import { POOL_WORKERS_MAX } from '../../../kernel/model/limits.ts';
import { WeftError, wrongArgument } from '../../../kernel/sdk/errors.ts';
import { checkOptions } from '../../../kernel/sdk/known-options.ts';
import type { HeadConnection } from '../../../kernel/sdk/line.ts';
import {
  dropUndefined,
  durationMs,
  inputsOf,
  makeSubmission,
  sizeBytes,
  whole,
} from '../../../kernel/sdk/submission.ts';
import { withInputs } from '../../../kernel/sdk/submit.ts';
import type { PoolView } from '../api/pools.ts';
import { WORKER_FIELDS } from '../model/pool.ts';
import { POOL_OPTIONS, RANGE_OPTIONS, RECYCLE_OPTIONS } from './option-names.ts';
import type { PoolOptions, RecycleOptions, WorkerImage, WorkerRange } from './pool-options.ts';
import '../api/paths.ts';

/** Resolves with its number, and whether it is this program's alone. */
export async function findOrStart(
  line: HeadConnection,
  options: PoolOptions,
): Promise<{ id: number; isOwn: boolean }> {
  checkOptions('a pool', options, POOL_OPTIONS);
  const { name, workers, recycle, image, detach: _, ...worker } = options;
  if (name === undefined && workers === undefined) {
    throw wrongArgument('a pool needs `workers`, or the `name` of one that is there');
  }
  if (name !== undefined) {
    const found = await findPool(line, name, workers !== undefined);
    if (found !== null) return takenAs(found, options);
  }
  const wish = pick(makeSubmission(['worker'], worker), WORKER_FIELDS);
  const range = newRangeOf(workers ?? 1);
  const temporary = name === undefined ? true : undefined;
  const made = { ...range, name, temporary, recycle: recycleOf(recycle), image: imageOf(image) };
  const body = dropUndefined({ ...wish, ...made });
  const key = freshKey();
  try {
    const files = inputsOf(['worker'], worker);
    const { jobId } = await withInputs(line, files, undefined, (inputs) => {
      const staging = inputs === undefined ? {} : { staging: { inputs } };
      return line.call('startPool', { body: { ...body, ...staging }, key });
    });
    return { id: jobId, isOwn: name === undefined };
  } catch (error) {
    // Another program of this user has started it just now.
    const isTaken = error instanceof WeftError && error.kind === 'already_exists';
    const found = isTaken && name !== undefined ? await findPool(line, name, true) : null;
    if (found === null) throw error;
    return takenAs(found, options);
  }
}

function pick<T extends object, K extends keyof T>(from: T, names: readonly K[]): Pick<T, K> {
  const chosen = names.filter((name) => from[name] !== undefined);
  return Object.fromEntries(chosen.map((name) => [name, from[name]])) as Pick<T, K>;
}

/** Throws when it is another than these options would make, as far as that is known. */
function takenAs(found: PoolView, options: PoolOptions): { id: number; isOwn: false } {
  const { id, name, min, max, idleMs, perWorker, partition } = found;
  if (found.python) throw otherLanguage(found);
  if (options.workers === undefined) return { id, isOwn: false };
  const range = newRangeOf(options.workers);
  const { memory } = options;
  const image = imageOf(options.image);
  const pairs: [what: string, wanted: unknown, is: unknown][] = [
    ['workers.min', range.min, min],
    ['workers.max', range.max, max],
    ['workers.idle in ms', 'idleMs' in range ? range.idleMs : undefined, idleMs],
    ['cpus', options.cpus, perWorker.cpuCount],
    [
      'memory in bytes',
      memory === undefined ? undefined : sizeBytes('memory', memory),
      perWorker.memoryBytes,
    ],
    ['gpus', options.gpus, perWorker.gpuCount],
    ['partition', options.partition, partition],
    ['image', image && imageWords(image), imageWords(found.image)],
  ];
  const differing = pairs.filter(([, wanted, is]) => wanted !== undefined && wanted !== is);
  if (differing.length === 0) return { id, isOwn: false };
  const words = differing.map(([what, wanted, is]) => `${what} ${is}, not ${wanted}`).join('; ');
  throw new WeftError({
    code: 'pool.name_taken',
    kind: 'already_exists',
    message: `Pool ${name} is there already, with ${words}.`,
    details: { pool: name ?? '', job: String(id) },
    hint: 'Without `workers` it is taken as it is; `pool.scale` changes how many they may be.',
  });
}

function otherLanguage({ id, name }: PoolView): WeftError {
  return new WeftError({
    code: 'pool.name_taken',
    kind: 'already_exists',
    message: `Pool ${name} runs functions of Python programs.`,
    details: { pool: name ?? '', job: String(id) },
    hint: 'Give this one another name.',
  });
}

async function findPool(
  line: HeadConnection,
  name: string,
  mayLack: boolean,
): Promise<PoolView | null> {
  try {
    const found = await line.call('getPool', { params: { id: name } });
    // One that takes no calls any more is being stopped: its name is free.
    if (found.calls !== null) return found;
    if (mayLack) return null;
    const message = `Pool ${name} is being stopped.`;
    throw new WeftError({ code: 'pool.not_found', kind: 'not_found', message });
  } catch (error) {
    if (mayLack && error instanceof WeftError && error.kind === 'not_found') return null;
    throw error;
  }
}

export async function scalePool(
  line: HeadConnection,
  id: number,
  workers: number | Partial<WorkerRange>,
): Promise<void> {
  await line.call('scalePool', { params: { id: String(id) }, body: rangeOf(workers) });
}

/**
 * One that has ended already is stopped. Throws when the connection was closed: it goes on then.
 */
export async function stopPool(line: HeadConnection, id: number): Promise<void> {
  try {
    await line.call('stopPool', { params: { id: String(id) } });
  } catch (error) {
    if (!(error instanceof WeftError) || error.kind !== 'failed_precondition') throw error;
    if (error.code !== 'cluster.closed') return;
    const { code, kind, details } = error;
    const message = `Pool ${id} goes on: the connection to its cluster was closed before it was.`;
    const hint = `Close pools first. \`weft pool stop ${id}\` stops it.`;
    throw new WeftError({ code, kind, message, details, hint, cause: error });
  }
}

function recycleOf(recycle: RecycleOptions | undefined) {
  if (recycle === undefined) return undefined;
  checkOptions('recycle', recycle, RECYCLE_OPTIONS);
  const { memory } = recycle;
  const calls = whole('recycle.calls', recycle.calls, [1, Number.MAX_SAFE_INTEGER]);
  const bytes = memory === undefined ? undefined : sizeBytes('recycle.memory', memory);
  return dropUndefined({ calls, bytes });
}

function imageOf(image: WorkerImage | undefined): ContainerImage | undefined {
  if (image === undefined) return undefined;
  const said = typeof image === 'string' ? { docker: image } : image;
  const [[kind, name] = ['', ''], ...more] = Object.entries(said ?? {});
  const engine = ENGINES.find((one) => one === kind);
  if (engine === undefined || more.length > 0 || typeof name !== 'string' || !isImageName(name)) {
    const what = `image: ${JSON.stringify(image)} is not the name of an image`;
    throw wrongArgument(what, "Write it as 'debian:12', or as { podman: 'debian:12' }.");
  }
  return { kind: engine, name };
}

function imageWords(image: ContainerImage | null | undefined): string {
  return image ? `${image.name} of ${image.kind}` : 'none';
}

/** Range of a new pool: `max` has to be said. */
function newRangeOf(workers: number | WorkerRange) {
  const range = rangeOf(workers);
  if (range.max === undefined) throw wrongArgument('workers: `max` says how many there may be');
  return range;
}

function rangeOf(workers: number | Partial<WorkerRange>) {
  if (typeof workers === 'number') {
    const count = whole('workers', workers, [1, POOL_WORKERS_MAX]);
    return { min: count, max: count };
  }
  checkOptions('workers', workers, RANGE_OPTIONS);
  const { idle } = workers;
  const min = whole('workers.min', workers.min, [0, POOL_WORKERS_MAX]);
  const max = whole('workers.max', workers.max, [1, POOL_WORKERS_MAX]);
  if (min !== undefined && max !== undefined && min > max) {
    throw wrongArgument(`workers: min ${min} is more than max ${max}`);
  }
  const idleMs = idle === undefined ? undefined : durationMs('workers.idle', idle);
  return dropUndefined({ min, max, idleMs });
}
