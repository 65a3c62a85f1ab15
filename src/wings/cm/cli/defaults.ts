// What a job of `cmrun` asks for where no flag says: what the caller's configuration sets, as in
// the seed. What it does not set is the cluster's to fill in.

import type { Config } from '../../../kernel/config/config.ts';
import type { Submission } from '../../../kernel/model/submission.ts';

/** The keys that the seed's `default_…` are now, and what each is in a submission. */
const FIELDS: ReadonlyMap<string, keyof Submission> = new Map([
  ['defaults.nodes', 'nodeCount'],
  ['defaults.procs', 'processesPerNode'],
  ['defaults.cpus', 'cpuCount'],
  ['defaults.memory', 'memoryBytes'],
  ['defaults.time', 'walltimeMs'],
]);

/** No entry for what is nowhere set. */
export function callersDefaults(config: Config): Partial<Submission> {
  const fields = config.all().flatMap(({ key, value, source }) => {
    const field = FIELDS.get(key.name);
    return field === undefined || source === 'default' ? [] : [[field, value] as const];
  });
  return Object.fromEntries(fields);
}
