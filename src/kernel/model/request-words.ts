// A request and an amount of resources in words.

import { plural } from '../base/plural.ts';
import { formatSize } from '../base/size.ts';
import type { GpuKind } from './cards.ts';
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
  const once = Object.entries(request.ofCluster ?? {}).map(([name, count]) => `${count} ${name}`);
  const shared = once.length === 0 ? '' : ` and ${once.join(', ')} of the cluster`;
  return `${nodes}${names}${labels} with ${describeResources(request.perNode)}${whole}${shared}`;
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
  if (resources.gpuCount > 0) parts.push(gpuWords(resources));
  for (const name in resources.counted) parts.push(`${resources.counted[name]} ${name}`);
  return parts.join(', ');
}

/** `2 gpus`, `2 a100 or h100 with 20G and more`, `8G of a gpu`. */
export function gpuWords({ gpuCount, gpuKind }: Pick<Resources, 'gpuCount' | 'gpuKind'>): string {
  if (gpuKind === undefined) return plural(gpuCount, 'gpu');
  const { shareBytes } = gpuKind;
  const kind = kindWords(gpuCount, gpuKind);
  return shareBytes === null ? kind : `${formatSize(shareBytes)} of ${kind}`;
}

/** The same without the share. */
export function kindWords(count: number, { types, memoryBytesMin, links }: GpuKind): string {
  const which = types === null ? plural(count, 'gpu') : `${count} ${types.join(' or ')}`;
  const large = memoryBytesMin === null ? '' : ` with ${formatSize(memoryBytesMin)} and more`;
  return `${which}${large}${links === undefined ? '' : ' joined by NVLink'}`;
}
