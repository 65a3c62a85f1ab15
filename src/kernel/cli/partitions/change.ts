// `state=down tier=1`: what `weft partition set` is given.

import { didYouMean } from '../../base/nearest-word.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { PARTITION_FIELDS } from '../../config/tables.ts';
import { parseValue, type Value } from '../../config/value.ts';
import type { PartitionChange } from '../../model/scheduling.ts';

/** The keys that a command may set over the config file. */
export const CHANGEABLE = ['state', 'policy', 'placement', 'tier', 'preempt', 'priority'];

/** With the types and limits that the config file has for them. */
export function parseChange(settings: readonly string[]): Result<PartitionChange, string> {
  const change: Record<string, Value> = {};
  for (const setting of settings) {
    const [word = '', ...rest] = setting.split('=');
    const field = PARTITION_FIELDS.find(({ name }) => name === word);
    if (field === undefined || !CHANGEABLE.includes(word)) {
      const only = `only ${CHANGEABLE.join(', ')} can be set here; all else is set in the config file.`;
      return err(`'${word}': ${only}${didYouMean(word, CHANGEABLE)}`);
    }
    if (rest.length === 0) return err(`'${setting}' has no value; write ${word}=VALUE`);
    const value = parseValue(field, rest.join('='));
    if (!value.ok) return err(`${word}: ${value.error}`);
    change[word] = value.value;
  }
  return ok(change as PartitionChange);
}
