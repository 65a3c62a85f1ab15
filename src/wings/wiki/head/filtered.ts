// Nodes and jobs by the labels that filters ask for.

import type { Job } from '../../../kernel/machine/jobs/facts.ts';
import type { Node } from '../../../kernel/machine/nodes/facts.ts';
import { labelsOf } from '../../../kernel/machine/nodes/view.ts';
import type { FilterRule, Seen } from '../../../kernel/model/filter-rule.ts';
import { DEFAULT_QOS } from '../../../kernel/model/scheduling.ts';
import { filtered } from '../../sites/fabric/filters/filter.ts';

/** Besides its own labels: `node=n1`. */
export function filteredNode(rules: readonly FilterRule[], node: Node): Seen {
  const labels = [...labelsOf(node), `node=${node.name}`];
  return filtered(rules, { over: 'nodes', name: node.name, labels });
}

/** By `user=ann`, `partition=batch`, `qos=normal`, `name=work`, and by what it asks of nodes. */
export function filteredJob(rules: readonly FilterRule[], { id, owner, spec }: Job): Seen {
  const { partition, qos = DEFAULT_QOS, name, request } = spec;
  const own = [`user=${owner}`, `partition=${partition}`, `qos=${qos}`, `name=${name}`];
  const labels = [...own, ...request.labels];
  return filtered(rules, { over: 'jobs', name: String(id), labels });
}
