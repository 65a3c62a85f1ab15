// Pools are started, found, scaled and stopped through the API; their calls go over a line of their
// own.

import { freshKey } from '../../connect/fresh-key.ts';
import { WeftError, wrongArgument } from '../errors.ts';
import { checkOptions } from '../known-options.ts';
import type { Line } from '../line.ts';
import { dropUndefined, durationMs, inputsOf, makeSubmission } from '../submission.ts';
import { withInputs } from '../submit.ts';
import { POOL_OPTIONS, RANGE_OPTIONS } from './option-names.ts';
import type { PoolOptions, WorkerRange } from './pool-options.ts';

/** What of a submission a pool takes; its program is the worker's own. */
const FIELDS = [
  ...['environment', 'directory', 'files', 'staging', 'nodeNames', 'cpuCount', 'memoryBytes'],
  ...['gpuCount', 'counted', 'exclusive', 'labels', 'walltimeMs', 'nice', 'partition', 'qos'],
  ...['reservation', 'notify', 'umask'],
] as const;

/** Resolves with its number, and whether it is this program's alone. */
export async function findOrStart(
  line: Line,
  options: PoolOptions,
): Promise<{ id: number; isOwn: boolean }> {
  checkOptions('a pool', options, POOL_OPTIONS);
  const { name, workers, detach: _, ...worker } = options;
  if (name === undefined && workers === undefined) {
    throw wrongArgument('a pool needs `workers`, or the `name` of one that is there');
  }
  if (name !== undefined) {
    const id = await findPool(line, name, workers !== undefined);
    if (id !== null) return { id, isOwn: false };
  }
  const wish = makeSubmission(['worker'], worker) as unknown as Readonly<Record<string, unknown>>;
  const chosen = FIELDS.map((field) => [field, wish[field]]);
  const range = rangeOf(workers ?? 1);
  const temporary = name === undefined ? true : undefined;
  const body = dropUndefined({ ...Object.fromEntries(chosen), ...range, name, temporary });
  const key = freshKey();
  try {
    const files = inputsOf(['worker'], worker);
    const { jobId } = await withInputs(line, files, undefined, (inputs) => {
      const staging = inputs === undefined ? {} : { staging: { inputs } };
      return line.call('startPool', { body: { ...body, ...staging } as never, key });
    });
    return { id: jobId, isOwn: name === undefined };
  } catch (error) {
    // Another program of this user has started it just now.
    const isTaken = error instanceof WeftError && error.kind === 'already_exists';
    const id = isTaken && name !== undefined ? await findPool(line, name, true) : null;
    if (id === null) throw error;
    return { id, isOwn: false };
  }
}

async function findPool(line: Line, name: string, mayLack: boolean): Promise<number | null> {
  try {
    const { id, calls } = await line.call('getPool', { params: { id: name } });
    // One that takes no calls any more is being stopped: its name is free.
    if (calls !== null) return id;
    if (mayLack) return null;
    const message = `Pool ${name} is being stopped.`;
    throw new WeftError({ code: 'pool.not_found', kind: 'not_found', message });
  } catch (error) {
    if (mayLack && error instanceof WeftError && error.kind === 'not_found') return null;
    throw error;
  }
}

export async function scalePool(
  line: Line,
  id: number,
  workers: number | Partial<WorkerRange>,
): Promise<void> {
  await line.call('scalePool', { params: { id: String(id) }, body: rangeOf(workers) as never });
}

/** One that has ended already is stopped. Throws when the connection was closed: it goes on then. */
export async function stopPool(line: Line, id: number): Promise<void> {
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

function rangeOf(workers: number | Partial<WorkerRange>) {
  if (typeof workers === 'number') return { min: workers, max: workers };
  checkOptions('workers', workers, RANGE_OPTIONS);
  const { min, max, idle } = workers;
  const idleMs = idle === undefined ? undefined : durationMs('workers.idle', idle);
  return dropUndefined({ min, max, idleMs });
}
