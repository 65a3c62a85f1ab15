// A request and an amount of resources in words.

import { plural } from '../base/plural.ts';
import { formatSize } from '../base/size.ts';
import type { ResourceRequest } from './job.ts';
import { withoutFeatures } from './node-features.ts';
import { labelsForPeople } from './own-labels.ts';
import type { Resources } from './resources.ts';

/** A request in words: `2 nodes with 4 cpus and 1G memory`. */
export function describeRequest(request: ResourceRequest): string {
  const nodes = plural(request.nodeCount, 'node');
  const labels = describeLabels(request.labels);
  const names = request.nodeNames.length > 0 ? ` of ${request.nodeNames.join(', ')}` : '';
  const whole = request.exclusive ? ' and no other tasks' : '';
  return `${nodes}${names}${labels} with ${describeResources(request.perNode)}${whole}`;
}

/** A directory that must be shared stands among the labels; people know it as a directory. */
function describeLabels(labels: readonly string[]): string {
  const own = labelsForPeople(withoutFeatures(labels)).filter((one) => !one.startsWith('shared='));
  const paths = labels
    .filter((label) => label.startsWith('shared='))
    .map((label) => label.slice(7));
  const labelled = own.length > 0 ? ` labelled ${own.join(', ')}` : '';
  return paths.length > 0 ? `${labelled} sharing ${paths.join(', ')}` : labelled;
}

export function describeResources(resources: Resources): string {
  const parts = [plural(resources.cpuCount, 'cpu')];
  if (resources.memoryBytes > 0) parts.push(`${formatSize(resources.memoryBytes)} memory`);
  if (resources.gpuCount > 0) parts.push(plural(resources.gpuCount, 'gpu'));
  for (const name in resources.counted) parts.push(`${resources.counted[name]} ${name}`);
  return parts.join(', ');
}
