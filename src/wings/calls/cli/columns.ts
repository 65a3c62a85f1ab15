// Pools, for tables and for people.

import { formatDuration } from '../../../kernel/base/duration.ts';
import { plural } from '../../../kernel/base/plural.ts';
import { titledLines } from '../../../kernel/cli/output/one.ts';
import { colourOf } from '../../../kernel/cli/output/paint.ts';
import type { Column } from '../../../kernel/cli/output/table.ts';
import { spanColumn } from '../../../kernel/cli/output/times.ts';
import { formatInstant } from '../../../kernel/cli/output/words.ts';
import { describeResources } from '../../../kernel/model/request-words.ts';
import type { PoolView } from '../api/pools.ts';

export function poolColumns(now: number): Column<PoolView>[] {
  return [
    { title: 'POOL', value: ({ id }) => String(id), align: 'right' },
    { title: 'NAME', value: ({ name }) => name ?? '-', least: 8 },
    { title: 'USER', value: ({ owner }) => owner, least: 8 },
    { title: 'STATE', value: ({ state, outcome }) => outcome ?? state, colour: colourOf },
    { title: 'WORKERS', value: (pool) => `${there(pool)}/${pool.target}`, align: 'right' },
    { title: 'RANGE', value: ({ min, max }) => (min === max ? `${max}` : `${min}-${max}`) },
    spanColumn('TIME', ({ submittedAt, endedAt }) => ({ from: submittedAt, until: endedAt }), {
      now,
    }),
    { title: 'EACH', value: ({ perWorker }) => describeResources(perWorker), wide: true },
    { title: 'REMARK', value: ({ reason }) => reason?.words ?? '', least: 12 },
  ];
}

export function poolLines(pool: PoolView, now: number): string[] {
  const { id, name, owner, state, outcome, idleMs, losses, perWorker, partition } = pool;
  const isFixed = pool.min === pool.max;
  return titledLines([
    ['Pool', name === null ? `${id}` : `${id} (${name})`],
    ['User', owner],
    ['State', outcome ?? state, colourOf(outcome ?? state)],
    ['Workers', workersWords(pool)],
    ['Range', rangeWords(pool)],
    ['Idle', isFixed ? '' : `a worker leaves after ${formatDuration(idleMs)} without work`],
    ['Waits', pool.reason?.words ?? ''],
    ['Lost', losses === 0 ? '' : plural(losses, 'worker')],
    ['Image', pool.image === null ? '' : `${pool.image.name} (${pool.image.kind})`],
    ['Python', pool.python ?? ''],
    ['Each', describeResources(perWorker)],
    ['Partition', partition],
    ['Started', formatInstant(pool.submittedAt, now)],
    ['Ended', pool.endedAt === null ? '' : formatInstant(pool.endedAt, now)],
  ]);
}

/** `4 workers`, or `0 to 4 workers`. */
export function rangeWords({ min, max }: Pick<PoolView, 'min' | 'max'>): string {
  return min === max ? plural(max, 'worker') : `${min} to ${plural(max, 'worker')}`;
}

/** `3 of 4: 2 running, 1 starting`. */
function workersWords({ workers, target }: PoolView): string {
  const parts = Object.entries(workers).map(([state, count]) => `${count} ${state}`);
  const sum = there({ workers });
  return parts.length === 0 ? `${sum} of ${target}` : `${sum} of ${target}: ${parts.join(', ')}`;
}

function there({ workers }: Pick<PoolView, 'workers'>): number {
  return Object.values(workers).reduce((sum, count) => sum + count, 0);
}
