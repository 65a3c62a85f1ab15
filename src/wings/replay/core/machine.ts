// The computer that a trace is replayed on, and how the jobs of a trace are laid out on its nodes.

import type { ResourceRequest } from '../../../kernel/model/job.ts';
import type { Resources } from '../../../kernel/model/resources.ts';
import type { GpuJob } from './gpu-trace.ts';
import type { SwfJob } from './swf.ts';

/** Equal nodes. One node of N cpus is a pool of N counted processors. */
export interface Machine {
  readonly nodeCount: number;
  readonly cpusPerNode: number;
  /** Null when memory is not looked at. */
  readonly memoryBytesPerNode: number | null;
  /** Absent: none. */
  readonly gpusPerNode?: number;
}

/** One node, for a replay on nodes that differ. */
export interface NodeSize {
  readonly cpuCount: number;
  /** Null when memory is not looked at. */
  readonly memoryBytes: number | null;
  /** Absent: none. */
  readonly gpuCount?: number;
}

/** A job ready to be replayed. Instants and durations in ms, on the trace's own clock. */
export interface ReplayJob {
  /** The id that the trace has for it. */
  readonly id: string;
  readonly submittedAt: number;
  /** At least 1, and at most the walltime. */
  readonly runMs: number;
  /** Null: without a limit. */
  readonly walltimeMs: number | null;
  /** The machine's size, for figures. */
  readonly processors: number;
  readonly request: ResourceRequest;
}

/** How many jobs were left out, and why. */
export interface Dropped {
  /** Size or run time missing or not positive. */
  readonly incomplete: number;
  /** Can never run on this machine. */
  readonly tooLarge: number;
}

export interface Workload {
  /** By submit time, then in the order of the trace. */
  readonly jobs: readonly ReplayJob[];
  readonly dropped: Dropped;
  /** How many of the jobs have no known time limit: the run time stands for it. */
  readonly guessedLimits: number;
}

/** What one task needs in all. */
export interface Size {
  readonly processors: number;
  readonly memoryBytesPerProcessor: number;
}

export function cpusOf(machine: Machine): number {
  return machine.nodeCount * machine.cpusPerNode;
}

export function nodesOf(machine: Machine): readonly NodeSize[] {
  const { cpusPerNode, memoryBytesPerNode, gpusPerNode = 0 } = machine;
  const node = { cpuCount: cpusPerNode, memoryBytes: memoryBytesPerNode, gpuCount: gpusPerNode };
  return Array.from({ length: machine.nodeCount }, () => node);
}

/** The jobs of a trace of gpus that can run. */
export function gpuWorkloadOf(trace: readonly GpuJob[], machine: Machine): Workload {
  const known = trace.filter(({ cpus, runS }) => cpus > 0 && runS > 0);
  const jobs = known.flatMap((job) => {
    const request = gpuRequestFor(job, machine);
    if (request === null) return [];
    const runMs = toMs(job.runS);
    const { id, submitS, cpus: processors } = job;
    const times = { submittedAt: Math.round(submitS * 1000), runMs, walltimeMs: runMs };
    return [{ id, ...times, processors, request }];
  });
  const incomplete = trace.length - known.length;
  const dropped = { incomplete, tooLarge: known.length - jobs.length };
  return { jobs: inOrder(jobs), dropped, guessedLimits: jobs.length };
}

/** On as many nodes as it had, else on as few as hold it. Null: the machine never does. */
function gpuRequestFor(job: GpuJob, machine: Machine): ResourceRequest | null {
  const { nodeCount: all, cpusPerNode, memoryBytesPerNode, gpusPerNode = 0 } = machine;
  const least = Math.max(
    ...[job.nodes ?? 1, job.cpus / cpusPerNode, job.gpus === 0 ? 0 : job.gpus / gpusPerNode],
  );
  const nodeCount = Math.ceil(least);
  const memoryBytes = memoryBytesPerNode === null ? 0 : Math.ceil(job.memoryBytes / nodeCount);
  if (nodeCount > all || memoryBytes > (memoryBytesPerNode ?? memoryBytes)) return null;
  const [cpuCount, gpuCount] = [job.cpus, job.gpus].map((one) => Math.ceil(one / nodeCount));
  return requestOf(nodeCount, { cpuCount: cpuCount ?? 0, memoryBytes, gpuCount: gpuCount ?? 0 });
}

/** The jobs of a trace that can run, laid out, with the run time cut at the estimate. */
export function workloadOf(trace: readonly SwfJob[], machine: Machine): Workload {
  let incomplete = 0;
  let tooLarge = 0;
  let guessedLimits = 0;
  const jobs: ReplayJob[] = [];
  for (const job of trace) {
    if (!(job.processors > 0) || !(job.runS > 0)) {
      incomplete += 1;
      continue;
    }
    const laidOut = layOut(job, machine);
    if (laidOut === null) tooLarge += 1;
    else {
      jobs.push(laidOut);
      if (job.estimateS === null) guessedLimits += 1;
    }
  }
  return { jobs: inOrder(jobs), dropped: { incomplete, tooLarge }, guessedLimits };
}

/** By submit time; the sort is stable, so equal ones keep their order. */
export function inOrder(jobs: readonly ReplayJob[]): readonly ReplayJob[] {
  return [...jobs].sort((a, b) => a.submittedAt - b.submittedAt);
}

function layOut(job: SwfJob, machine: Machine): ReplayJob | null {
  const memoryBytesPerProcessor = (job.memoryKib ?? 0) * 1024;
  const request = requestFor({ processors: job.processors, memoryBytesPerProcessor }, machine);
  if (request === null) return null;
  const walltimeMs = toMs(job.estimateS ?? job.runS);
  return {
    id: job.id,
    submittedAt: Math.round(job.submitS * 1000),
    runMs: Math.min(toMs(job.runS), walltimeMs),
    walltimeMs,
    processors: job.processors,
    request,
  };
}

/**
 * The fewest nodes that can hold it, as even as can be: 20 processors on nodes of 16 cpus ask for
 * two nodes with 10 each. Null when the machine can never hold it.
 */
export function requestFor(size: Size, machine: Machine): ResourceRequest | null {
  const { cpusPerNode, memoryBytesPerNode } = machine;
  const { processors, memoryBytesPerProcessor: memory } = size;
  const roomByMemory =
    memoryBytesPerNode === null || memory === 0
      ? Infinity
      : Math.floor(memoryBytesPerNode / memory);
  const perNodeMax = Math.min(cpusPerNode, roomByMemory);
  if (perNodeMax < 1) return null;
  const nodeCount = Math.ceil(processors / perNodeMax);
  if (nodeCount > machine.nodeCount) return null;
  const cpuCount = Math.ceil(processors / nodeCount);
  const memoryBytes = memoryBytesPerNode === null ? 0 : Math.ceil(cpuCount * memory);
  return requestOf(nodeCount, { cpuCount, memoryBytes, gpuCount: 0 });
}

function requestOf(nodeCount: number, perNode: Omit<Resources, 'counted'>): ResourceRequest {
  return {
    nodeCount,
    processesPerNode: 1,
    perNode: { ...perNode, counted: {} },
    exclusive: false,
    labels: [],
    nodeNames: [],
  };
}

/** Never 0: a job takes some time. */
function toMs(seconds: number): number {
  return Math.max(1, Math.round(seconds * 1000));
}
