// Options that say what a job needs: nodes and what they have, time, and which part of the cluster.

import { parseNodeName } from '../ids.ts';
import { CPUS_PER_NODE_MAX, NODES_PER_TASK_MAX, PROCESSES_PER_NODE_MAX } from '../limits.ts';
import { parseNeed } from '../submission-values.ts';
import { COUNTED } from './counted.ts';
import { GPU_LINKS, GPU_TYPES, GPUS } from './gpus.ts';
import type { OptionRow } from './row.ts';
import { choice, FLAG, line, SIZE, separated, several, WALLTIME, whole } from './types.ts';

export const NEEDS = {
  /** Nodes. Default: 1. */
  nodes: {
    flags: '-n, --nodes <count>',
    words: 'nodes',
    field: 'nodeCount',
    type: whole(1, NODES_PER_TASK_MAX),
    form: { label: 'Nodes', hint: '1' },
    change: { while: 'pending' },
    sbatch: '--nodes -N',
  },
  /** Processes per node, or with `mpi` ranks per node. Default: 1, with `mpi` the cpus. */
  processes: {
    flags: '-p, --procs <count>',
    words: 'processes per node; with --mpi: ranks per node (default: its cpus)',
    field: 'processesPerNode',
    type: whole(1, PROCESSES_PER_NODE_MAX),
    sbatch: '--ntasks-per-node',
  },
  mpi: {
    flags: '--mpi',
    words: 'run it on the first node only; mpirun and mpiexec reach the others (docs/mpi.md)',
  },
  /** Cpus per node. Default: what the partition says, usually 1. */
  cpus: {
    flags: '--cpus <count>',
    words: 'cpus per node',
    field: 'cpuCount',
    type: whole(0, CPUS_PER_NODE_MAX),
    batch: {
      words: 'Cpus of one job; without it a whole node, with all of its gpus.',
      expected: 'a whole number, at least 1',
      least: 1,
    },
    form: { label: 'Cpus per node', hint: '1' },
    pool: true,
    change: { while: 'pending' },
    // Theirs are for each task, ours for all processes of a node: with one process it is the same.
    sbatch: '--cpus-per-task -c',
  },
  /** Memory per node. */
  memory: {
    flags: '--memory <size>',
    words: 'memory per node, such as 512M or 4G',
    field: 'memoryBytes',
    type: SIZE,
    batch: {
      words: 'Memory of one job, as 2G.',
    },
    form: { label: 'Memory per node', hint: '512M, 4G' },
    pool: true,
    change: { while: 'pending', words: 'memory per node' },
    sbatch: '--mem',
  },
  /** Gpus per node: a number, or with their type `a100:2`. */
  gpus: {
    flags: '--gpus <count>',
    words: 'gpus per node: 2, or a100:2 for gpus of a type',
    field: 'gpuCount',
    type: GPUS,
    batch: {
      words: 'Gpus of one job: a number, or with their type a100:2.',
    },
    form: { label: 'Gpus per node', hint: '0; a100:2' },
    pool: true,
    change: { while: 'pending' },
    theirs: '--gpus-per-task -G',
    sbatch: '--gpus-per-node',
  },
  /** Types of its gpus, of which any will do: `a100|h100`. Default: any. */
  gpuType: {
    flags: '--gpu-type <types>',
    words: "gpus of one of these types, 'a100|h100'; `weft node show` names them",
    field: 'gpuTypes',
    type: GPU_TYPES,
    form: { label: 'Gpu types', hint: 'any; a100|h100' },
    pool: true,
    change: { while: 'pending' },
  },
  /** Memory that each of its gpus has at least. */
  gpuMemory: {
    flags: '--gpu-memory <size>',
    words: 'gpus with at least so much memory, such as 20G',
    field: 'gpuMemoryBytes',
    type: SIZE,
    batch: { words: 'Memory that each gpu of a job has at least, as 20G.' },
    form: { label: 'Memory of each gpu', hint: '20G' },
    pool: true,
    change: { while: 'pending' },
  },
  /** Only so much memory of each of its gpus, which others may share. */
  gpuShare: {
    flags: '--gpu-share <size>',
    words: 'only so much memory of each gpu, shared with others: 8G',
    field: 'gpuShareBytes',
    type: SIZE,
    batch: { words: 'Only so much memory of each gpu of a job, shared with others: 8G.' },
    form: { label: 'Share of each gpu', hint: 'whole gpus; 8G' },
    pool: true,
    change: { while: 'pending' },
  },
  /** `nvlink`: its gpus on each node are joined with each other by NVLink. Default: `any`. */
  gpuLinks: {
    flags: '--gpu-links <how>',
    words: 'nvlink: only gpus that are joined with each other by NVLink; any (default)',
    field: 'gpuLinks',
    type: choice(GPU_LINKS),
    batch: { words: 'nvlink: only gpus of a job that are joined with each other by NVLink.' },
    form: { label: 'Gpu links', hint: 'any; nvlink' },
    pool: true,
    change: { while: 'pending' },
  },
  /** Other counted resources per node, by name. */
  resources: {
    flags: '--resource <name=count>',
    words: 'any other counted resource, per node (repeatable)',
    many: true,
    field: 'counted',
    type: COUNTED,
    pool: true,
  },
  /** Labels that its nodes must have, or expressions as `gpu & !old`. */
  needs: {
    flags: '--needs <labels>',
    words: "only nodes with this label, or 'gpu & !old | big' (repeatable)",
    many: true,
    field: 'labels',
    type: several(parseNeed),
    pool: true,
    theirs: '--constraint -C',
    offers: 'labels',
  },
  site: {
    flags: '--site <names>',
    words: 'only at this site, or one of these, separated by commas',
    pool: true,
  },
  /** Only these nodes. */
  nodesNamed: {
    flags: '--nodes-named <names>',
    words: 'only these nodes, separated by commas',
    field: 'nodeNames',
    type: separated(parseNodeName),
    pool: true,
    theirs: '--nodelist -w',
    offers: 'nodes',
  },
  /** Whole nodes: nobody else runs there meanwhile. */
  exclusive: {
    flags: '--exclusive',
    words: 'whole nodes, shared with no other job',
    field: 'exclusive',
    type: FLAG,
    pool: true,
    sbatch: '--exclusive',
  },
  /** Time limit; `none`: no limit. Default: what the partition says. */
  time: {
    flags: '-t, --time <duration>',
    words: 'time limit, such as 90s, 1h30m, 2-12:00:00, or none',
    field: 'walltimeMs',
    type: WALLTIME,
    batch: {
      words: 'Longest time of one job, as 30m; none is no limit.',
    },
    form: { label: 'Time limit', hint: 'none; 90s, 1h30m' },
    pool: true,
    change: { while: 'pending', words: 'time limit, such as 90s or 1h30m, or none' },
    theirs: '--time-limit --time-request --walltime',
    sbatch: '--time -t',
  },
  /** The part of the cluster to run in. Default: `default`. */
  partition: {
    flags: '--partition <name>',
    words: 'partition; `weft partition list` shows them',
    field: 'partition',
    type: line(64),
    batch: {
      words: 'The partition of the cluster to run in.',
    },
    form: { label: 'Partition', hint: 'the default' },
    pool: true,
    change: { while: 'pending', words: 'partition' },
    sbatch: '--partition -p',
    offers: 'partitions',
  },
  /** Quality of service. */
  qos: {
    flags: '--qos <name>',
    words: 'quality of service; `weft qos list` shows them',
    field: 'qos',
    type: line(64),
    batch: {
      words: 'The quality of service to run under.',
    },
    pool: true,
    change: { while: 'pending', words: 'quality of service' },
    sbatch: '--qos -q',
    offers: 'qos',
  },
  /** Runs in the share and the time of this reservation. */
  reservation: {
    flags: '--reservation <name>',
    words: 'run in the share and the time of this reservation',
    field: 'reservation',
    type: line(64),
    pool: true,
    sbatch: '--reservation',
    offers: 'reservations',
  },
} as const satisfies Readonly<Record<string, OptionRow>>;
