// Where the user of a job of a site wants it to run, among the nodes that its site has.

import type { SiteJob, SiteNode, SiteWhere } from '../../../kernel/model/site.ts';

/** Those that are so, of all where nothing is asked for. A string: too few are, in words. */
export function nodesThere(
  { where, nodeCount }: Pick<SiteJob, 'where' | 'nodeCount'>,
  nodes: readonly SiteNode[],
): readonly SiteNode[] | string {
  const fit = where === undefined ? nodes : knownNodesWith(where, nodes);
  if (fit.length === nodes.length || fit.length >= nodeCount) return fit;
  const count = fit.length === 0 ? 'no node' : `only ${fit.map(({ name }) => name).join(', ')}`;
  return `${count} of its site is where it is to run`;
}

/** By what is asked for: thousands of jobs of a site ask for the same. */
const FITTING = new WeakMap<readonly SiteNode[], Map<string, readonly SiteNode[]>>();

function knownNodesWith(where: SiteWhere, nodes: readonly SiteNode[]): readonly SiteNode[] {
  const key = JSON.stringify(where);
  const known = FITTING.get(nodes) ?? new Map<string, readonly SiteNode[]>();
  FITTING.set(nodes, known);
  const fit = known.get(key) ?? nodesWith(where, nodes);
  known.set(key, fit);
  return fit;
}

function nodesWith(where: SiteWhere, nodes: readonly SiteNode[]): readonly SiteNode[] {
  const isOfQueue = ({ queues }: SiteNode) => where.queues?.some((one) => queues.includes(one));
  // Not every system says of its nodes which queues they have, and some have queues without nodes
  // of their own.
  const isSaid = nodes.some((node) => isOfQueue(node) === true);
  return nodes.filter((node) => {
    const isOpen = node.queues.length === 0 && !isSaid;
    return (isOpen || isOfQueue(node) !== false) && isThere(node, where);
  });
}

function isThere({ name, features }: SiteNode, where: SiteWhere): boolean {
  if (where.only?.includes(name) === false || where.not?.includes(name) === true) return false;
  return where.features?.every((one) => features.includes(one)) ?? true;
}
