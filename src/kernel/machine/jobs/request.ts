// What a submission asks of its nodes, complete and checked.

import { formatSize } from '../../base/size.ts';
import type { GpuKind } from '../../model/cards.ts';
import { isSliceType, parseGpuTypes, readGpus } from '../../model/gpu-wish.ts';
import type { JobSpec, ResourceRequest } from '../../model/job.ts';
import * as limits from '../../model/limits.ts';
import { MEMORY_PER_NODE_MAX } from '../../model/limits.ts';
import type { Resources } from '../../model/resources.ts';
import type { Settings } from '../../model/settings.ts';
import type { Submission } from '../../model/submission.ts';
import { unreadableLabel } from '../nodes/label-checks.ts';
import { Wrong, whole, wrong } from './wrong.ts';

/** Names of counted resources stand in keys, lists and on command lines. */
const COUNTED_NAME = /^[A-Za-z][A-Za-z0-9._-]{0,62}$/;

/** All but the memory, which may depend on the rest. */
export function completeRequest(wish: Submission, settings: Settings): ResourceRequest {
  const { defaults } = settings;
  const nodeNames = wish.nodeNames ?? [];
  const nodeCount = wish.nodeCount ?? Math.max(defaults.nodeCount, nodeNames.length);
  whole('the number of nodes', nodeCount, 1, limits.NODES_PER_TASK_MAX);
  if (nodeNames.length > 0 && nodeNames.length < nodeCount) {
    wrong(`${nodeCount} nodes are asked for, but only ${nodeNames.length} are named`);
  }
  if (new Set(nodeNames).size < nodeNames.length) wrong('a node is named twice');
  const processes = wish.processesPerNode ?? (wish.mpi ? 1 : defaults.processesPerNode);
  whole('the number of processes per node', processes, 1, limits.PROCESSES_PER_NODE_MAX);
  const counted = withoutNone(wish.counted ?? defaults.perNode.counted);
  for (const name in counted) {
    if (!COUNTED_NAME.test(name) || name in Object.prototype) {
      wrong(
        `'${name}' is not a name for a counted resource; use letters, digits, '.', '-' and '_'`,
      );
    }
    whole(`the amount of ${name}`, counted[name] as number, 0, limits.COUNTED_PER_NODE_MAX);
  }
  const { ofNode, ofCluster } = splitCounted(counted, settings.scheduling.resources ?? {});
  const cpuCount = wish.cpuCount ?? defaults.perNode.cpuCount;
  const { count, kind } = askedGpus(wish, defaults.perNode.gpuCount);
  const perNode: Resources = {
    cpuCount: whole('cpus', cpuCount, 0, limits.CPUS_PER_NODE_MAX),
    memoryBytes: 0,
    gpuCount: whole('gpus', count, 0, limits.GPUS_PER_NODE_MAX),
    counted: ofNode,
  };
  const request: ResourceRequest = {
    nodeCount,
    processesPerNode: processes,
    perNode: kind === null ? perNode : { ...perNode, gpuKind: kind },
    exclusive: wish.exclusive ?? false,
    labels: checkLabels(wish.labels ?? []),
    nodeNames,
  };
  return Object.keys(ofCluster).length === 0 ? request : { ...request, ofCluster };
}

type Counted = Resources['counted'];

/** What the cluster counts as a whole, and what is each node's own. */
function splitCounted(counted: Counted, cluster: Counted) {
  const entries = Object.entries(counted);
  const isOfCluster = ([name]: readonly [string, number]) => Object.hasOwn(cluster, name);
  return {
    ofCluster: Object.fromEntries(entries.filter(isOfCluster)),
    ofNode: Object.fromEntries(entries.filter((entry) => !isOfCluster(entry))),
  };
}

/** Undefined: in proportion to the cpus. */
export function wantedMemory(wish: Submission, { defaults }: Settings): number | undefined {
  const { memoryBytes, memoryOtherwiseBytes } = wish;
  const bytes = memoryBytes ?? defaults.perNode.memoryBytes ?? memoryOtherwiseBytes;
  return bytes === undefined ? undefined : checkMemory(bytes);
}

/** Completes an MPI request: the program is one process, which starts its ranks itself. */
export function completeMpi(
  { mpi }: Submission,
  { processesPerNode, perNode, nodeCount }: ResourceRequest,
): Pick<JobSpec, 'mpi'> {
  if (mpi === undefined) return {};
  if (processesPerNode !== 1) {
    wrong('an MPI job has one process; say how many ranks a node gets with mpi.ranksPerNode');
  }
  const { ranks } = mpi;
  const even = ranks === undefined ? perNode.cpuCount : Math.ceil(ranks / nodeCount);
  const wanted = mpi.ranksPerNode ?? Math.max(1, even);
  const most = limits.PROCESSES_PER_NODE_MAX;
  const ranksPerNode = whole('the number of ranks per node', wanted, 1, most);
  if (ranks === undefined || ranks === ranksPerNode * nodeCount) return { mpi: { ranksPerNode } };
  if (ranks < nodeCount || ranksPerNode !== even)
    wrong(`mpi: ${ranks} ranks are not ${nodeCount} nodes with up to ${ranksPerNode} each`);
  return { mpi: { ranksPerNode, ranks } };
}

function checkMemory(bytes: number): number {
  whole('memory', bytes, 0, limits.MEMORY_PER_NODE_MAX);
  // Below this no program starts, so it is a unit forgotten: `--memory 512` for `512M`.
  if (bytes > 0 && bytes < 1_048_576) {
    wrong(
      `${formatSize(bytes)} bytes of memory is too little for any program; is the unit missing?`,
    );
  }
  return bytes;
}

/** What is asked for none of is not asked for. */
function withoutNone(amounts: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  const some = Object.entries(amounts).filter(([, amount]) => amount !== 0);
  if (some.length > limits.COUNTED_MAX) {
    wrong(`a job asks for at most ${limits.COUNTED_MAX} kinds of counted resources`);
  }
  return Object.fromEntries(some);
}

function checkLabels(labels: readonly string[]): readonly string[] {
  const length = labels.reduce((sum, label) => sum + label.length, 0);
  if (length > limits.LABELS_TOTAL_MAX) {
    wrong(`the labels of a job have ${length} characters; ${limits.LABELS_TOTAL_MAX} are the most`);
  }
  const refusal = unreadableLabel(labels);
  if (refusal !== null) throw new Wrong(refusal);
  return labels;
}

// Which gpus a submission asks for, from the options that say it.

interface Asked {
  readonly count: number;
  /** Null: any whole ones. */
  readonly kind: GpuKind | null;
}

/** `countDefault`: of jobs that say nothing of gpus. */
function askedGpus(wish: Submission, countDefault: number): Asked {
  const types = typesOf(wish);
  const memoryBytesMin = bytesOf('--gpu-memory', wish.gpuMemoryBytes);
  const shareBytes = bytesOf('--gpu-share', wish.gpuShareBytes);
  const isJoined = wish.gpuLinks === 'nvlink';
  const isAny = types === null && memoryBytesMin === null && shareBytes === null && !isJoined;
  const count = countOf(wish) ?? (isAny ? countDefault : Math.max(1, countDefault));
  if (isAny) {
    if (count === 0) refuseNothingOf(wish);
    return { count, kind: null };
  }
  if (count === 0) {
    wrong('the job asks for 0 gpus and says which; leave --gpus out, or what says which gpus');
  }
  if (shareBytes !== null && wish.exclusive === true) {
    wrong('a job with whole nodes has their gpus whole; leave --gpu-share or --exclusive out');
  }
  if (isJoined && wish.exclusive === true) {
    wrong(
      'a job with whole nodes has all of their gpus, joined or not; leave --gpu-links or --exclusive out',
    );
  }
  const kind = { types, memoryBytesMin, shareBytes };
  return { count, kind: isJoined ? joined(count, kind) : kind };
}

/** Nothing of each gpu, with no gpu asked for, would be none at all without a word. */
function refuseNothingOf({ gpuShareBytes, gpuMemoryBytes }: Submission): void {
  if (gpuShareBytes !== 0 && gpuMemoryBytes !== 0) return;
  const flag = gpuShareBytes === 0 ? '--gpu-share' : '--gpu-memory';
  wrong(`the job asks for 0 gpus and says ${flag} 0; leave it out, or say how much, such as 8G`);
}

/** Only what may be joined is. */
function joined(count: number, kind: GpuKind): GpuKind {
  const slice = kind.types?.find(isSliceType);
  if (slice !== undefined) {
    wrong(`${slice} is a slice of a gpu, which is joined with nothing; leave --gpu-links out`);
  }
  if (kind.shareBytes !== null) {
    wrong('a job with gpus that are joined has them whole; leave --gpu-share or --gpu-links out');
  }
  if (count < 2) {
    wrong(
      'one gpu is joined with nothing; ask for 2 or more with --gpus, or leave --gpu-links out',
    );
  }
  return { ...kind, links: 'nvlink' };
}

function countOf({ gpuCount }: Submission): number | null {
  return gpuCount === undefined ? null : readWish(gpuCount).count;
}

function readWish(wish: NonNullable<Submission['gpuCount']>) {
  const asked = readGpus(wish);
  return asked.ok ? asked.value : wrong(`gpus: ${asked.error}`);
}

/** Null: any. */
function typesOf({ gpuCount, gpuTypes = [] }: Submission): readonly string[] | null {
  const own = gpuCount === undefined ? null : readWish(gpuCount).type;
  const read = gpuTypes.length === 0 ? null : parseGpuTypes(gpuTypes.join('|'));
  if (read !== null && !read.ok) return wrong(`gpu types: ${read.error}`);
  const others = read?.value ?? [];
  if (own !== null && others.length > 0 && !(others.length === 1 && others[0] === own)) {
    wrong(`--gpus names the type ${own} and --gpu-type ${others.join('|')}; leave one out`);
  }
  const types = own === null ? others : [own];
  const slices = types.filter(isSliceType);
  if (slices.length > 0 && slices.length < types.length) {
    const others = types.filter((type) => !isSliceType(type));
    wrong(
      `${slices.join(', ')} are slices of gpus and ${others.join(', ')} are whole ones; ask for either`,
    );
  }
  return types.length === 0 ? null : types;
}

/** 0 is as not said. */
function bytesOf(flag: string, bytes: number | undefined): number | null {
  if (bytes === undefined || bytes === 0) return null;
  whole(`${flag} in bytes`, bytes, 0, MEMORY_PER_NODE_MAX);
  if (bytes < 1_048_576) {
    wrong(`${flag} ${formatSize(bytes)} bytes is too little for any program; is the unit missing?`);
  }
  return bytes;
}
