// What `weft top` shows of the cluster, as the head tells it.

import type { InfoReply } from '../../api/cluster.ts';
import type { JobView } from '../../api/jobs.ts';
import type { CardView, NodeView } from '../../api/nodes.ts';
import { formatSize } from '../../base/size.ts';
import type { Api } from '../../connect/api.ts';
import { jobColumns, stateWords } from '../jobs/columns.ts';
import { nodeColumns, nodeState } from '../nodes/columns.ts';
import { type Column, formatTable, type Look } from '../output/table.ts';

/** More rows than anybody pages through; a filter of the head's finds the others. */
const JOBS_MAX = 500;

/** Which jobs the head is asked for: the options of `weft jobs`. */
export interface Asked {
  readonly owner?: string;
  readonly state: string;
  readonly sort: 'newest' | 'priority';
}

export interface Facts {
  readonly info: InfoReply;
  readonly jobs: readonly JobView[];
  /** There are more jobs than these. */
  readonly isCut: boolean;
  readonly nodes: readonly NodeView[];
}

export async function fetchFacts(api: Api, { owner, state, sort }: Asked): Promise<Facts> {
  const query = { state, owner, sort, limit: JOBS_MAX };
  const [info, { nodes }, page] = await Promise.all([
    api.call('info'),
    api.call('listNodes'),
    api.call('listJobs', { query }),
  ]);
  return { info, nodes, jobs: page.jobs, isCut: page.next !== null || page.more === true };
}

export type Pane = 'jobs' | 'nodes' | 'gpus';

/** Those of gpus only where a node tells of some. */
export function panesOf({ nodes }: Pick<Facts, 'nodes'>): readonly Pane[] {
  const hasGpus = nodes.some(({ gpus }) => (gpus?.cards.length ?? 0) > 0);
  return hasGpus ? ['jobs', 'nodes', 'gpus'] : ['jobs', 'nodes'];
}

/** What a pane lists, behind the filter. */
export interface Rows {
  /** Ids of jobs, names of nodes, or gpus as `n1/0`: what the keys act on. */
  readonly names: readonly string[];
  /** Lines of a table: its title, and one for each. */
  draw(look: Look): string[];
}

/** Rows of which some cell holds each word of the filter, whatever its case. */
export function rowsOf(facts: Facts, pane: Pane, filter: string): Rows {
  const now = facts.info.head.now;
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (pane === 'jobs') {
    const rows = facts.jobs.filter((job) => holds(words, jobText(job)));
    const draw = (look: Look) => formatTable(jobColumns(now), rows, 'main', look);
    return { names: rows.map(({ id }) => String(id)), draw };
  }
  if (pane === 'gpus') return gpuRows(facts, words);
  const rows = facts.nodes.filter((node) => holds(words, nodeText(node)));
  const draw = (look: Look) => formatTable(nodeColumns(now), rows, 'main', look);
  return { names: rows.map(({ name }) => name), draw };
}

function gpuRows({ nodes }: Facts, words: readonly string[]): Rows {
  const all = nodes.flatMap(({ name, gpus }) => {
    return (gpus?.cards ?? []).map((card): GpuRow => ({ ...card, name: `${name}/${card.label}` }));
  });
  const rows = all.filter((row) =>
    holds(words, GPU_COLUMNS.map(({ value }) => value(row)).join(' ')),
  );
  return {
    names: rows.map(({ name }) => name),
    draw: (look) => formatTable(GPU_COLUMNS, rows, 'main', look),
  };
}

interface GpuRow extends CardView {
  readonly name: string;
}

const GPU_COLUMNS: readonly Column<GpuRow>[] = [
  { title: 'GPU', least: 6, value: ({ name }) => name },
  { title: 'TYPE', value: ({ type }) => type },
  {
    title: 'MEMORY',
    value: ({ memoryBytes }) => (memoryBytes === null ? '-' : formatSize(memoryBytes)),
    align: 'right',
  },
  { title: 'STATE', value: ({ state }) => state.replace('_', ' ') },
  { title: 'TASKS', value: ({ tasks }) => tasks.join(', ') || '-' },
  {
    title: 'USERS',
    value: ({ owners = [], users }) => {
      return [...new Set([...owners, ...users.map(({ user }) => user)])].join(', ') || '-';
    },
  },
  { title: 'REMARK', value: ({ why }) => why ?? '' },
];

function holds(words: readonly string[], text: string): boolean {
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word));
}

function jobText(job: JobView): string {
  const { id, name, owner, partition, nodes, command } = job;
  return [id, name, owner, stateWords(job), partition, ...nodes, command].join(' ');
}

function nodeText(node: NodeView): string {
  return [node.name, nodeState(node), ...node.labels, node.reason ?? ''].join(' ');
}
