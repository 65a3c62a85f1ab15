// What `weft top` shows of the cluster, as the head tells it.

import type { InfoReply } from '../../api/cluster.ts';
import type { JobView } from '../../api/jobs.ts';
import type { NodeView } from '../../api/nodes.ts';
import type { Api } from '../../connect/api.ts';
import { jobColumns, stateWords } from '../jobs/columns.ts';
import { nodeColumns, nodeState } from '../nodes/columns.ts';
import { formatTable, type Look } from '../output/table.ts';

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

export type Pane = 'jobs' | 'nodes';
export const PANES: readonly Pane[] = ['jobs', 'nodes'];

/** What a pane lists, behind the filter. */
export interface Rows {
  /** Ids of jobs, or names of nodes: what the keys act on. */
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
  const rows = facts.nodes.filter((node) => holds(words, nodeText(node)));
  const draw = (look: Look) => formatTable(nodeColumns(now), rows, 'main', look);
  return { names: rows.map(({ name }) => name), draw };
}

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
