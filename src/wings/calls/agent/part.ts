// What tasks of pools run on a node: a worker's program, on the node itself or in a container,
// which is told of the head and of its secret.

import type { AgentPart, Start, Surroundings } from '../../../kernel/agent/part.ts';
import { type WorkerSettings, workerInContainer } from './worker-container.ts';

export function workersPart(workers: WorkerSettings): AgentPart {
  return {
    variables: (of) =>
      of.order.pool === undefined ? {} : { ours: workerVariables(of, workers.head) },
    argv: (start) => (start.order.pool === undefined ? undefined : workerArgv(start, workers)),
  };
}

function workerArgv(
  { order, mark, directory, environment }: Start,
  workers: WorkerSettings,
): readonly string[] {
  const image = order.pool?.image;
  if (image === undefined) return [workers.program];
  return workerInContainer({ image, mark, directory, environment, workers, share: order.share });
}

/** Read by the worker's own process, which passes the second on to nobody. */
function workerVariables(
  { order: { epochId, place, pool }, settings: { node } }: Surroundings,
  head: WorkerSettings['head'],
): Record<string, string> {
  const worker = `${node}:${epochId}`;
  const { key = '', recycle, python } = pool ?? {};
  const calls = { head, epochId, worker, key, recycle, python };
  return { WEFT_POOL: `${place.jobId}`, WEFT_CALLS: JSON.stringify(calls) };
}
