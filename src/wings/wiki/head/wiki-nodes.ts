// Nodes as a Maui-like scheduler has them: those of the partitions that it runs.

import { maintenanceOfNode } from '../../../kernel/head/answers/maintenance-view.ts';
import type { Node } from '../../../kernel/machine/nodes/facts.ts';
import { labelsOf } from '../../../kernel/machine/nodes/view.ts';
import type { State } from '../../../kernel/machine/state.ts';
import type { FilterRule, Seen } from '../../../kernel/model/filter-rule.ts';
import { meetsLabel, SHARED_PREFIX } from '../../../kernel/model/labels.ts';
import { withoutFeatures } from '../../../kernel/model/node-features.ts';
import { isMember, type Partition } from '../../../kernel/model/scheduling.ts';
import type { NodeLoad } from '../../../kernel/wire/messages.ts';
import type { WikiRecord } from '../fabric/reply.ts';
import { filteredNode } from './filtered.ts';

const MIB = 1_048_576;

export function* wikiNodes(
  state: State,
  partitions: readonly Partition[],
  loadOf: (name: Node['name']) => NodeLoad | null,
  rules: readonly FilterRule[],
): Generator<WikiRecord> {
  const asked = directoriesAsked(state, new Set(partitions.map(({ name }) => name)));
  for (const node of state.nodes.values()) {
    const outline = { name: node.name, labels: labelsOf(node) };
    const mine = partitions.filter((partition) => isMember(partition, outline));
    if (mine.length === 0) continue;
    const seen = filteredNode(rules, node);
    if (seen.hiddenBy === null)
      yield recordOf(state, node, { mine, seen, asked, load: loadOf(node.name) });
  }
}

/** Labels of the directories that jobs need which are not over. */
function directoriesAsked({ jobs }: State, partitions: ReadonlySet<string>): ReadonlySet<string> {
  const asked = new Set<string>();
  for (const { spec, outcome } of jobs.values()) {
    if (outcome !== null || !partitions.has(spec.partition)) continue;
    for (const label of spec.request.labels) if (label.startsWith(SHARED_PREFIX)) asked.add(label);
  }
  return asked;
}

interface Shown {
  readonly mine: readonly Partition[];
  readonly seen: Seen;
  readonly asked: ReadonlySet<string>;
  readonly load: NodeLoad | null;
}

function recordOf(state: State, node: Node, { mine, seen, asked, load }: Shown): WikiRecord {
  const { name, total, free, facts } = node;
  const queues = mine.map((one) => seen.queue ?? one.name);
  const counts = (each: number) => Object.fromEntries(queues.map((queue) => [queue, each]));
  const own = labelsOf(node);
  // Who shares `/home` shares what is in it: a scheduler that compares letters has to be told.
  const shared = [...asked].filter((label) => !own.has(label) && meetsLabel(own, label));
  const labels = [...withoutFeatures(own), ...shared, ...seen.labels];
  return {
    id: name,
    state: wikiNodeStateOf(state, node),
    fields: [
      ...ofMachine(facts, load),
      ['CMEMORY', mebibytes(total.memoryBytes)],
      ['AMEMORY', mebibytes(free.memoryBytes)],
      ['CPROC', total.cpuCount],
      ['APROC', Math.max(0, free.cpuCount)],
      ['CCLASS', { counts: counts(total.cpuCount) }],
      ['ACLASS', { counts: counts(Math.max(0, free.cpuCount)) }],
      ['FEATURE', labels.sort().map(wikiFeature)],
      ['MAXTASK', total.cpuCount],
    ],
  };
}

/** What its agent sees around it. A gateway sees its own machine, not its site's nodes. */
function ofMachine(facts: Node['facts'], load: NodeLoad | null): WikiRecord['fields'] {
  if (facts?.site !== undefined) return [];
  return [
    ['OS', facts?.os ?? 'unknown'],
    ['ARCH', facts?.arch ?? 'unknown'],
    ['CDISK', mebibytes(facts?.diskBytes ?? 0)],
    ['ADISK', mebibytes(facts?.diskFreeBytes ?? 0)],
    ['CPULOAD', (load?.load1 ?? 0).toFixed(2)],
  ];
}

/** Maui takes what stands before the first `=` of a field for its name, wherever it looks. */
export function wikiFeature(label: string): string {
  return label.replaceAll('=', '_');
}

export function mebibytes(bytes: number): number {
  return Math.max(0, Math.floor(bytes / MIB));
}

function wikiNodeStateOf(state: State, node: Node): string {
  const { connected, fault, drain, pausing, holding, free, name } = node;
  if (!connected || fault !== null) return 'Down';
  const isOut = drain !== null || pausing.now !== null;
  if (isOut || maintenanceOfNode(state, name)?.begun === true) {
    return holding.size > 0 ? 'Draining' : 'Drained';
  }
  if (holding.size === 0) return 'Idle';
  return free.cpuCount > 0 ? 'Running' : 'Busy';
}
