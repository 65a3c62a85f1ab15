// From an accepted specification back to a submission that says all of it, so that what is changed
// or run again passes the same checks as what is new.

import type { JobSpec } from '../../model/job.ts';
import { keptBy } from '../../model/options/kept.ts';
import type { Submission } from '../../model/submission.ts';
import { sharedLabel } from '../nodes/view.ts';
import { isInside } from './directory.ts';

/** Every value as it was completed then; its dependencies, hold and begin time too. */
export function submissionOf(spec: JobSpec): Submission {
  const { request, mpi, array, each, warning, qos, reservation, beginAt, notify, pool } = spec;
  const { perNode, nodeCount, processesPerNode, exclusive, nodeNames } = request;
  const { cpuCount, memoryBytes, gpuCount, gpuKind, counted } = perNode;
  const { program, scriptPath, name, environment, directory, files, staging, walltimeMs } = spec;
  const { dependencies, held, onNodeLoss, partition } = spec;
  return {
    ...keptBy(spec),
    program,
    scriptPath,
    name,
    environment,
    directory,
    files,
    staging,
    walltimeMs,
    dependencies,
    nodeCount,
    processesPerNode,
    exclusive,
    nodeNames,
    labels: ownLabels(spec),
    cpuCount,
    memoryBytes,
    gpuCount,
    gpuTypes: gpuKind?.types ?? undefined,
    gpuMemoryBytes: gpuKind?.memoryBytesMin ?? undefined,
    gpuShareBytes: gpuKind?.shareBytes ?? undefined,
    gpuLinks: gpuKind?.links,
    counted: { ...counted, ...request.ofCluster },
    held,
    onNodeLoss,
    partition,
    mpi,
    each,
    warning,
    qos,
    reservation,
    notify,
    // How many of a pool run is not a user's limit, and may be none.
    array: pool === undefined || array === null ? (array ?? undefined) : { indices: array.indices },
    beginAt: beginAt ?? undefined,
  };
}

/** Without the one that only says which directory its nodes share: it is found again. */
function ownLabels({ directory, request: { labels } }: JobSpec): readonly string[] {
  if (directory.kind === 'private') return labels;
  const { path } = directory;
  const prefix = sharedLabel('');
  return labels.filter((label) => {
    return !label.startsWith(prefix) || !isInside(path, label.slice(prefix.length));
  });
}
