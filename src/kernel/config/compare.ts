// What differs between two readings of the configuration, as far as it concerns the head.

import type { SettingChange } from '../api/partitions.ts';
import type { Config } from './config.ts';
import { formatValue } from './value.ts';

/** Every value by its key, as one would write it; plain data. */
export type Written = Readonly<Record<string, string>>;

/** Read once, at the head's start: a listener or file cannot change under those who use it. */
const AT_START = [
  ...['cluster.', 'fence.', 'head.listen', 'head.names', 'head.multi_user', 'head.tick'],
  ...[
    'head.request_rate',
    'head.log_limit',
    'head.log_total',
    'head.blobs_max',
    'head.user_files',
    'head.archive_max',
    'head.archive_age',
    'head.cpus',
    'head.memory',
  ],
];
/** Sections of other programs than the head. */
const ELSEWHERE = ['node.', 'health.', 'up.', 'join.', 'client.'];

export function writtenOf(config: Config): Written {
  const values = config.all().map(({ key, value }) => [key.name, formatValue(key, value)] as const);
  return Object.fromEntries(values);
}

/** `changed` is in force at once; `afterRestart` is not. `atStart`: what wings read only then. */
export function compareWritten(
  { before, after }: { readonly before: Written; readonly after: Written },
  atStart: readonly string[],
) {
  const late = [...AT_START, ...atStart];
  const changed: SettingChange[] = [];
  const afterRestart: SettingChange[] = [];
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (before[key] === after[key] || isOf(key, ELSEWHERE)) continue;
    const change = { key, before: before[key] ?? null, after: after[key] ?? null };
    if (isOf(key, late)) afterRestart.push(change);
    else changed.push(change);
  }
  return { changed, afterRestart };
}

function isOf(key: string, beginnings: readonly string[]): boolean {
  return beginnings.some((beginning) => key.startsWith(beginning));
}
