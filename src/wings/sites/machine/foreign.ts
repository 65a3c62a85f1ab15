// A job that a user gave to a site itself, as a job of ours: with its owner, its size and its
// limit. What it runs, and where its output goes, only the site knows.

import { toPlainLine } from '../../../kernel/base/plain-line.ts';
import type { NodeName, UserName } from '../../../kernel/model/ids.ts';
import type { ForeignWork, JobSpec } from '../../../kernel/model/job.ts';
import {
  CPUS_PER_NODE_MAX,
  MEMORY_PER_NODE_MAX,
  NAME_LENGTH_MAX,
} from '../../../kernel/model/limits.ts';
import { DEFAULT_PARTITION } from '../../../kernel/model/scheduling.ts';
import {
  type ListedJob,
  memberName,
  type SiteNode,
  shownName,
} from '../../../kernel/model/site.ts';
import { nodesThere } from '../model/site-where.ts';

const OWNER = /^[A-Za-z_][A-Za-z0-9_.@-]{0,63}\$?$/;

/** Returns null when nobody can be called so here. */
export function ownerOf({ owner }: ListedJob): UserName | null {
  return OWNER.test(owner) ? (owner as UserName) : null;
}

/**
 * The nodes of ours that fit what its user wants, of those that its site has; empty: any of them.
 * A string: too few of them are so, in words.
 */
export function nodesFor(
  job: Pick<ListedJob, 'where' | 'nodeCount'>,
  site: NodeName,
  nodes: readonly SiteNode[],
): readonly NodeName[] | string {
  const fit = nodesThere(job, nodes);
  if (typeof fit === 'string') return fit;
  if (fit.length === nodes.length) return [];
  return fit.map((node) => memberName(shownName(node), site) as NodeName);
}

/** @param nodes as `nodesFor` has it */
export function foreignSpec(
  site: NodeName,
  job: ListedJob,
  nodes: readonly NodeName[] | string,
): JobSpec {
  const { id, cpuCount, memoryBytes, walltimeMs, isExclusive, elements, seen, submittedAt } = job;
  const nodeCount = Math.max(1, job.nodeCount);
  const name = toPlainLine(job.name).slice(0, NAME_LENGTH_MAX).trim();
  return {
    name: name === '' ? `job ${id}` : name,
    program: { kind: 'argv', argv: [`${site}/${id}`] },
    environment: {},
    directory: { kind: 'private' },
    files: {},
    request: {
      nodeCount,
      processesPerNode: 1,
      exclusive: isExclusive,
      nodeNames: typeof nodes === 'string' ? [] : nodes,
      perNode: {
        cpuCount: Math.min(Math.max(1, Math.ceil((cpuCount ?? 1) / nodeCount)), CPUS_PER_NODE_MAX),
        memoryBytes: Math.min(memoryBytes ?? 0, MEMORY_PER_NODE_MAX),
        gpuCount: 0,
        counted: {},
      },
      labels: [`site=${site}`, ...(seen?.labels ?? [])],
    },
    walltimeMs,
    array: elements === null || elements === '' ? null : { indices: elements },
    dependencies: [],
    beginAt: null,
    nice: 0,
    held: false,
    // Nobody but its site may say that it is over, or run it again.
    onNodeLoss: { kind: 'wait' },
    requeue: false,
    retriesMax: 0,
    partition: seen?.partition ?? DEFAULT_PARTITION,
    umask: 0o022,
    foreign: {
      site,
      job: id,
      ...holdOf(job, nodes),
      ...(submittedAt === null ? {} : { submittedAt }),
    },
  };
}

const REASON_LENGTH_MAX = 200;

/**
 * How a job of the site is held: its user holds and releases it there, and jobs that the site hides
 * are not started. @param nodes as `nodesFor` returns them
 */
export function holdOf(
  { state, reason, seen }: Pick<ListedJob, 'state' | 'reason' | 'seen'>,
  nodes: readonly NodeName[] | string,
): Pick<ForeignWork, 'isHeld' | 'heldBecause'> {
  const rule = seen?.hiddenBy ?? null;
  if (rule !== null) return { isHeld: true, heldBecause: `rule ${rule} of its site hides it` };
  if (state !== 'held') {
    return typeof nodes === 'string' ? { isHeld: true, heldBecause: nodes } : { isHeld: false };
  }
  const words = toPlainLine(reason ?? '')
    .slice(0, REASON_LENGTH_MAX)
    .trim();
  return { isHeld: true, ...(words === '' ? {} : { heldBecause: words }) };
}
