// Where the user of a job of Slurm wants it to run: what a plan can keep to, and what none of ours
// can.

import type { SiteWhere } from '../../../../kernel/model/site.ts';
import { nodesOf, notPlanned, textOf } from '../read.ts';
import { numberOf } from './values.ts';

type Listed = Readonly<Record<string, unknown>>;

/** A string: what no plan of ours keeps to, in words. */
export function whereOf(listed: Listed, nodeCount: number): SiteWhere | string | undefined {
  const unplanned = UNPLANNED.find(({ has }) => has(listed));
  if (unplanned !== undefined) return notPlanned(unplanned.what);
  const only = nodesOf(textOf(listed.required_nodes));
  // A plan has as many as it needs of those that are named.
  if (only.length > 0 && only.length !== nodeCount) {
    return notPlanned('some of its nodes, and others beside (-w)');
  }
  const features = textOf(listed.features)?.split('&') ?? [];
  if (!features.every((one) => FEATURE.test(one))) return notPlanned('a choice of features (-C)');
  const not = nodesOf(textOf(listed.excluded_nodes));
  const queues = textOf(listed.partition)?.split(',') ?? [];
  const where = {
    ...(only.length === 0 ? {} : { only }),
    ...(not.length === 0 ? {} : { not }),
    ...(features.length === 0 ? {} : { features }),
    ...(queues.length === 0 ? {} : { queues }),
  };
  return Object.keys(where).length === 0 ? undefined : where;
}

const FEATURE = /^[A-Za-z0-9_.=/-]+$/;

function hasText(...names: readonly string[]) {
  return (listed: Listed): boolean => names.some((name) => textOf(listed[name]) !== null);
}

/** Beside cpus, which Slurm 23.11 and later names there for `--cpus-per-task`: counted anyway. */
function hasTres(...names: readonly string[]) {
  return (listed: Listed): boolean =>
    names.some((name) => {
      return (textOf(listed[name])?.split(',') ?? []).some((part) => !/^cpu[=:]\d+$/.test(part));
    });
}

const UNPLANNED: readonly { readonly what: string; readonly has: (listed: Listed) => boolean }[] = [
  { what: 'licenses (-L)', has: hasText('licenses') },
  {
    what: 'gres or gpus (--gres)',
    has: hasTres('tres_per_node', 'tres_per_job', 'tres_per_socket', 'tres_per_task'),
  },
  { what: 'a reservation (--reservation)', has: hasText('resv_name') },
  { what: 'a burst buffer (--bb)', has: hasText('burst_buffer') },
  { what: 'nodes side by side (--contiguous)', has: ({ contiguous }) => contiguous === true },
  { what: 'several parts (het jobs)', has: ({ het_job_id: id }) => (numberOf(id) ?? 0) > 0 },
];
