// Sentences about many nodes: those of which the same is said stand together.

import { plural } from '../../base/plural.ts';

/** What is said of one node and of several. */
export interface Said {
  readonly one: string;
  readonly many: string;
  /** Cpus of a full node; added up over the nodes. */
  readonly cpus?: { readonly used: number; readonly total: number };
}

interface Group {
  readonly names: readonly string[];
  readonly said: Said;
}

/** More nodes than this are counted, not named. */
const NAMES_MAX = 3;
/** Further situations are only counted. */
const GROUPS_MAX = 4;

/** Nodes by what is said of them, in the order in which it is first said. */
export function grouped<Node extends { readonly name: string }>(
  nodes: readonly Node[],
  say: (node: Node) => Said,
): Group[] {
  const groups = new Map<string, { names: string[]; said: Said }>();
  for (const node of nodes) {
    const said = say(node);
    const group = groups.get(said.many);
    if (group === undefined) groups.set(said.many, { names: [node.name], said });
    else {
      group.names.push(node.name);
      group.said = sum(group.said, said);
    }
  }
  return [...groups.values()];
}

function sum(a: Said, b: Said): Said {
  if (a.cpus === undefined || b.cpus === undefined) return a;
  const used = a.cpus.used + b.cpus.used;
  return { ...a, cpus: { used, total: a.cpus.total + b.cpus.total } };
}

/** `all 4 nodes are full: 8 of 8 cpus in use`; `n1 is full (2 of 2 cpus in use), n2 has …`. */
export function sayOfNodes(groups: readonly Group[], nodeCount: number): string {
  const [only] = groups;
  if (only !== undefined && groups.length === 1 && only.names.length === nodeCount) {
    const { cpus } = only.said;
    const inUse = cpus === undefined ? '' : `: ${cpusInUse(cpus)}`;
    return `${subjectOfAll(only.names)} ${verbOf(only)}${inUse}`;
  }
  const shown = groups.slice(0, GROUPS_MAX).map((group) => {
    const { cpus } = group.said;
    const inUse = cpus === undefined ? '' : ` (${cpusInUse(cpus)})`;
    return `${subjectOf(group.names)} ${verbOf(group)}${inUse}`;
  });
  const left = groups.slice(GROUPS_MAX).flatMap(({ names }) => names);
  if (left.length > 0) shown.push(`… (${plural(left.length, 'node')} more)`);
  return shown.join(', ');
}

function verbOf({ names, said }: Group): string {
  return names.length === 1 ? said.one : said.many;
}

function cpusInUse({ used, total }: { used: number; total: number }): string {
  return `${used} of ${total} cpus in use`;
}

function subjectOfAll(names: readonly string[]): string {
  return names.length <= 2 ? subjectOf(names) : `all ${names.length} nodes`;
}

function subjectOf(names: readonly string[]): string {
  if (names.length > NAMES_MAX) return `${names.length} nodes`;
  const last = names.at(-1) ?? '';
  return names.length === 1 ? last : `${names.slice(0, -1).join(', ')} and ${last}`;
}
