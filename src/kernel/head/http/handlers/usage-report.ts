// What jobs used, from the history: what still runs is not in it.

import { ok } from '../../../base/result.ts';
import type { UserName } from '../../../model/ids.ts';
import type { UsageRow } from '../../../ports/history.ts';
import { usageOfGroups } from '../../answers/usage-groups.ts';
import type { Engine } from '../../engine.ts';
import type { Handler } from '../call.ts';

const USUAL_MS = 30 * 86_400_000;
const INSTANT_MAX = 8.64e15;
const HOUR_MS = 3_600_000;

export const reportUsage: Handler<'reportUsage'> = async ({ engine }, { query }) => {
  // What has just ended must be in the history before it is added up.
  await engine.settled();
  const { by = 'user', owner, partition, stepMs = null } = query;
  const until = query.until ?? engine.now() + 1;
  const from = query.from ?? Math.max(0, until - USUAL_MS);
  const recorded = await engine.store.usage({
    by: by === 'group' ? 'user' : by,
    from,
    // By a clock that was ahead, and has been set back since, some have ended later than now.
    until: query.until ?? INSTANT_MAX,
    stepMs,
    ...(owner === undefined ? {} : { owner }),
    ...(partition === undefined ? {} : { partition }),
  });
  const rows =
    by === 'group' ? usageOfGroups(recorded, (user) => groupsOf(engine, user)) : recorded;
  return ok({ from, until, rows: rows.map((row) => viewRow(row, from, stepMs ?? 0)) });
};

/** Groups of the fair share, else those that the head knows of the user; as they are today. */
function groupsOf({ state, settings }: Pick<Engine, 'state' | 'settings'>, user: string) {
  const { groups } = settings.scheduling.fairShare;
  const sharing = Object.keys(groups).filter((name) =>
    groups[name]?.users.some((one) => one === user),
  );
  return sharing.length > 0 ? sharing : (state.users.get(user as UserName)?.groups ?? []);
}

function viewRow(row: UsageRow, from: number, stepMs: number) {
  const { key, step, starts, tasks, cpuMs, memoryByteMs, gpuMs, usedUs } = row;
  return {
    key,
    from: from + step * stepMs,
    starts,
    tasks,
    cpuHours: cpuMs / HOUR_MS,
    gibHours: memoryByteMs / HOUR_MS / 1024 ** 3,
    gpuHours: gpuMs / HOUR_MS,
    usedCpuHours: usedUs / 1000 / HOUR_MS,
  };
}
