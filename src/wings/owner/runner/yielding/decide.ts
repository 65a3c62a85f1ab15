// Whether a node stands aside for whoever uses the machine. It does so at the first sign, and
// takes work again only after the machine has been quiet for a while: tasks do not stop and go
// with each key. Time is counted by the monotonic clock alone; the wall clock, however it is set,
// moves only the owner's hours.

import type { YieldPause } from '../../../../kernel/model/pause.ts';
import type { YieldRules } from '../../../../kernel/model/presence.ts';
import type { Now } from '../../../../kernel/runner/epoch.ts';
import { type Look, whyInUse } from './in-use.ts';
import { addReading, type Readings } from './load.ts';

/** In memory only: what outlives the agent is the pause that it has begun. */
export interface Watched {
  readonly yielding: Yielding | null;
  /** Since when nobody uses the machine, monotonic; null: somebody does. */
  readonly quietSince: number | null;
  readonly load: Readings;
}

interface Yielding {
  readonly pause: YieldPause;
  /** Monotonic. */
  readonly since: number;
}

/** `pause`: the one that the journal has, of an agent that ran before. */
export function beginWatch(pause: YieldPause | null, now: Now): Watched {
  // The other boot's monotonic clock says nothing: by the wall clock, which may have been set.
  const lastedMs = pause === null ? 0 : Math.max(0, now.at - pause.since);
  const yielding = pause === null ? null : { pause, since: now.monotonic - lastedMs };
  return { yielding, quietSince: now.monotonic, load: [] };
}

/** What is known after one more look; `yielding` says whether the node stands aside. */
export function watch(before: Watched, rules: YieldRules, look: Look): Watched {
  const { now } = look;
  const load = addLoad(before.load, look);
  const why = whyInUse(rules, look, load);
  const quietSince = why === null ? (before.quietSince ?? now.monotonic) : null;
  return {
    yielding: decide({ ...before, load, quietSince }, rules, { now, why }),
    quietSince,
    load,
  };
}

function decide(
  { yielding, quietSince }: Watched,
  { resumeAfterMs, vacateAfterMs }: YieldRules,
  { now, why }: { readonly now: Now; readonly why: string | null },
): Yielding | null {
  if (why !== null && yielding === null) {
    const pause = { kind: 'yield', why, since: now.at, requeue: false } as const;
    return { pause, since: now.monotonic };
  }
  if (yielding === null) return null;
  if (quietSince !== null) return now.monotonic - quietSince >= resumeAfterMs ? null : yielding;
  // Only while somebody is there: when work may go on soon, it is not sent away.
  const isLong = vacateAfterMs !== null && now.monotonic - yielding.since >= vacateAfterMs;
  if (!isLong || yielding.pause.requeue) return yielding;
  return { ...yielding, pause: { ...yielding.pause, requeue: true } };
}

/** Without a reading, as where the processes cannot be seen, the count begins anew. */
function addLoad(before: Readings, { signs, now: { monotonic } }: Look): Readings {
  const sign = signs.find(({ kind }) => kind === 'load');
  return sign?.kind === 'load' ? addReading(before, { monotonic, cpuMs: sign.cpuMs }) : [];
}
