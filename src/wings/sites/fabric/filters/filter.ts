// Filters and annotations: what a scheduler sees of nodes, jobs and queues is what the site wants
// it to see. Rules apply in their order; each sees the labels that those before it have added.

import type { FilterRule, Rename, Seen } from '../../../../kernel/model/filter-rule.ts';
import { meetsLabel } from '../../../../kernel/model/labels.ts';

/** Labels that a source has for what a rule is about. */
export type SourceLabels = (source: string) => readonly string[];

const NOTHING: SourceLabels = () => [];

/** A node, job or queue, as rules look at it. */
export interface Filtered {
  readonly over: FilterRule['over'];
  readonly name: string;
  readonly labels: Iterable<string>;
  readonly source?: SourceLabels;
}

export function filtered(
  rules: readonly FilterRule[],
  { over, name, labels: own, source = NOTHING }: Filtered,
): Seen {
  const all = new Set(own);
  const labels: string[] = [];
  const matched: string[] = [];
  let seen: Seen = {
    hiddenBy: null,
    queue: null,
    partition: null,
    name: null,
    labels,
    rules: matched,
  };
  for (const rule of rules) {
    if (rule.over !== over) continue;
    // What a rule brings it may be about, too.
    const brought = rule.data === undefined ? [] : source(rule.data);
    const known = brought.length === 0 ? all : new Set([...all, ...brought]);
    if (!rule.when.every((label) => meetsLabel(known, label))) continue;
    matched.push(rule.name);
    if (rule.hide) return { ...seen, hiddenBy: rule.name };
    for (const label of [...brought, ...rule.add]) {
      if (!all.has(label)) labels.push(label);
      all.add(label);
    }
    const renamed = rule.rename === undefined ? null : renamedBy(rule.rename, seen.name ?? name);
    seen = {
      ...seen,
      queue: rule.queue ?? seen.queue,
      partition: rule.partition ?? seen.partition,
      name: renamed ?? seen.name,
    };
  }
  return seen;
}

/** Returns null when the name is not of the form that gets another one. */
function renamedBy({ from, to }: Rename, name: string): string | null {
  const [begin = '', end] = from.split('*');
  if (end === undefined) return name === from ? to : null;
  if (name.length < begin.length + end.length) return null;
  if (!name.startsWith(begin) || !name.endsWith(end)) return null;
  const part = name.slice(begin.length, name.length - end.length);
  return to.split('*').join(part);
}
