// When a node stands aside by itself, from its options.

import { parseHours } from '../../../kernel/model/hours.ts';
import { localTime } from '../../../kernel/os/local-time.ts';
import type { YieldSettings } from '../agent/yield-watch.ts';
import type { YieldOptions } from '../config/pause-options.ts';
import type { OwnerPresence } from '../ports/presence.ts';

/** Throws with words when the options cannot be. */
export function yieldSettings(options: YieldOptions, detectors: OwnerPresence): YieldSettings {
  const hours = options.hours === null ? null : parseHours(options.hours);
  if (hours?.ok === false) throw new Error(`node.yield.hours: ${hours.error}`);
  return { rules: { ...options, hours: hours?.value ?? null }, detectors, localTime };
}
