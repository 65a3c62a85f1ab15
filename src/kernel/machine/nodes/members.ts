// Which nodes of ours are nodes of a site: those that its gateway speaks for.

import type { NodeName } from '../../model/ids.ts';
import type { Task } from '../jobs/facts.ts';
import type { State } from '../state.ts';
import type { Node } from './facts.ts';

export interface Member {
  readonly gateway: Node;
  /** The site's name of the node. */
  readonly name: string;
}

/** `n1.hpc`, let in by the secret of `hpc`; null: it is no node of a site. */
export function memberOf({ nodes }: State, node: Node): Member | null {
  for (let dot = node.name.indexOf('.'); dot > 0; dot = node.name.indexOf('.', dot + 1)) {
    const gateway = nodes.get(node.name.slice(dot + 1) as NodeName);
    if (gateway?.secretHash === node.secretHash) return { gateway, name: node.name.slice(0, dot) };
  }
  return null;
}

/** The site that runs the task, or a part of it; null: its nodes are all machines of ours. */
export function siteOf({ nodes }: State, { job, parts }: Task): string | null {
  if (job.spec.foreign !== undefined) return job.spec.foreign.site;
  for (const name of parts.keys()) {
    const site = nodes.get(name)?.facts?.site;
    if (site !== undefined) return site;
  }
  return null;
}

/** True for a node that stands for a whole site. */
export function isGateway({ name, facts }: Node): boolean {
  return facts?.site === name;
}
