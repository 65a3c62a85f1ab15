// Where the user of a job of PBS wants it to run: what a plan can keep to, and what none of ours
// can. Whatever form it was asked in (`-l nodes=n1`, `-l host=n1`), PBS makes a select of it.

import type { SiteWhere } from '../../../../kernel/model/site.ts';
import { notPlanned } from '../read.ts';
import { isTrue } from './nodes.ts';
import { bytesOf, countOf, type Listed, partOf, wordOf } from './values.ts';

export interface Placing {
  /** A string: what no plan of ours keeps to, in words. */
  readonly where: SiteWhere | string | undefined;
  readonly nodeCount: number;
}

/** `2:ncpus=4:host=n1` of a select. */
interface Chunk {
  readonly count: number;
  /** What it has of each node, in one form. */
  readonly size: string;
  readonly hosts: readonly string[];
  readonly features: readonly string[];
}

export function placingOf(listed: Listed): Placing {
  const wants = partOf(listed.Resource_List) ?? {};
  const chunks = chunksOf(wants);
  if (typeof chunks === 'string') return { where: notPlanned(chunks), nodeCount: nodectOf(wants) };
  const asked = nodesAsked(chunks, (wordOf(wants.place) ?? 'free').split(/[:,]/));
  if (typeof asked === 'string') return { where: notPlanned(asked), nodeCount: nodectOf(wants) };
  const [features, queue] = [chunks[0]?.features ?? [], wordOf(listed.queue)];
  const where = {
    ...(asked.only === null ? {} : { only: asked.only }),
    ...(features.length === 0 ? {} : { features }),
    ...(queue === null ? {} : { queues: [queue] }),
  };
  const { nodeCount } = asked;
  return { where: Object.keys(where).length === 0 ? undefined : where, nodeCount };
}

function nodectOf(wants: Listed): number {
  return countOf(wants.nodect) || 1;
}

/** Limits that hold wherever it runs, and what is made of the select itself. */
const ANYWHERE =
  /^((soft_|min_|max_)?walltime|p?cput|p?v?mem|ncpus|file|nice|cpupercent|energy|mpiprocs|ompthreads|preempt_targets|nodect|nodes|select|place)$/;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** A string: what of them is not understood. */
function chunksOf(wants: Listed): readonly Chunk[] | string {
  // What is asked for the whole job is in the select too, where it is of a node.
  const others = Object.entries(wants).filter(([name]) => !ANYWHERE.test(name));
  const whole = others.map(([name, value]) => `${name}=${wordOf(value) ?? ''}`);
  const select = wordOf(wants.select);
  if (select === null) return 'something that its listing does not say (no select)';
  const chunks: Chunk[] = [];
  for (const text of select.split('+')) {
    const parts = text.split(':');
    const [, count] = /^(\d{1,9})$/.exec(parts[0] ?? '') ?? [];
    const asked = new Set([...(count === undefined ? parts : parts.slice(1)), ...whole]);
    const chunk = chunkOf(Number(count ?? 1), asked);
    if (typeof chunk === 'string') return chunk;
    chunks.push(chunk);
  }
  return chunks;
}

function chunkOf(count: number, asked: ReadonlySet<string>): Chunk | string {
  const [hosts, features] = [new Set<string>(), new Set<string>()];
  let [cpus, memory] = [0, 0];
  for (const one of asked) {
    const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(one) ?? [];
    if (name === 'ncpus') cpus = countOf(value) ?? 0;
    else if (name === 'mem') memory = bytesOf(value) ?? 0;
    else if (ANYWHERE.test(name)) continue;
    else if (/^(host|vnode)$/.test(name) && NAME.test(value)) hosts.add(value);
    else if (name === 'arch' && NAME.test(value)) features.add(value);
    else if (NAME.test(name) && isTrue(value)) features.add(name);
    else return `${one} (-l)`;
  }
  const size = `${cpus} cpus, ${memory} bytes`;
  return { count, size, hosts: [...hosts], features: [...features].sort() };
}

const ARRANGED = /^(free|pack|scatter|vscatter|excl|exclhost|shared?)$/;

/** A plan has nodes that are alike, and as many as it needs of those that are named. */
function nodesAsked(
  chunks: readonly Chunk[],
  place: readonly string[],
): { readonly nodeCount: number; readonly only: readonly string[] | null } | string {
  const strange = place.find((one) => !ARRANGED.test(one));
  if (strange !== undefined) return `a place of its own (-l place=${strange})`;
  if (new Set(chunks.map(({ features }) => features.join())).size > 1) {
    return 'nodes of several kinds (-l select=A+B)';
  }
  const hosts = [...new Set(chunks.flatMap((chunk) => chunk.hosts))];
  const isNamed = chunks.every((chunk) => chunk.hosts.length === 1);
  const isSpread = place.some((one) => /scatter$/.test(one));
  const count = chunks.reduce((sum, chunk) => sum + chunk.count, 0);
  // All chunks on one host are one share of it, whatever each of them has.
  if (count === 1 || place.includes('pack') || (isNamed && hosts.length === 1 && !isSpread)) {
    if (hosts.length > 1) return 'one node with several names (-l select)';
    return { nodeCount: 1, only: hosts.length === 0 ? null : hosts };
  }
  if (new Set(chunks.map(({ size }) => size)).size > 1) {
    return 'chunks of several sizes (-l select=A+B)';
  }
  if (hosts.length === 0) return { nodeCount: count, only: null };
  if (isNamed && hosts.length === count) return { nodeCount: count, only: hosts };
  return 'some of its nodes, and others beside (-l select)';
}
