// Where the user of a job of a site wants it to run, among the nodes that its site has.

import type { SiteJob, SiteNode, SiteWhere } from '../../../kernel/model/site.ts';

/** Those that are so, of all where nothing is asked for. A string: too few of them are, in words. */
export function nodesThere(
  { where, nodeCount }: Pick<SiteJob, 'where' | 'nodeCount'>,
  nodes: readonly SiteNode[],
): readonly SiteNode[] | string {
  const fit = where === undefined ? nodes : nodes.filter((node) => isThere(node, where));
  if (fit.length === nodes.length || fit.length >= nodeCount) return fit;
  const count = fit.length === 0 ? 'no node' : `only ${fit.map(({ name }) => name).join(', ')}`;
  return `${count} of its site is where it is to run`;
}

function isThere({ name, features, queues }: SiteNode, where: SiteWhere): boolean {
  if (where.only?.includes(name) === false || where.not?.includes(name) === true) return false;
  // Not every system says of its nodes which queues they have.
  const isInQueue = queues.length === 0 || where.queues?.some((one) => queues.includes(one));
  if (isInQueue === false) return false;
  return where.features?.every((one) => features.includes(one)) ?? true;
}
