// Stopped tasks among many windows: what they cost a cycle, and what is left as it was.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JobId, NodeName } from '../../../../src/kernel/model/ids.ts';
import { plainScheduling } from '../../../../src/kernel/model/scheduling.ts';
import { Resumer, type Stopped } from '../../../../src/kernel/scheduler/cycle/resume.ts';
import { Board } from '../../../../src/kernel/scheduler/room/board.ts';
import type { Window } from '../../../../src/kernel/scheduler/room/lane.ts';
import { outlasts } from '../../../../src/kernel/scheduler/room/windows.ts';
import { resources } from '../../../support/nodes.ts';
import { busyPool } from '../../../support/preemption.ts';

const COUNT = 200;
const NAMES = Array.from({ length: COUNT }, (_, at) => `n${at}` as NodeName);

/** Counts how often anybody asks whether a node is among them. */
class CountedShares extends Map<NodeName, 'whole'> {
  static looks = 0;

  override has(name: NodeName): boolean {
    CountedShares.looks += 1;
    return super.has(name);
  }
}

function windowsOn(name: NodeName): Window[] {
  const shares = new CountedShares([[name, 'whole']]);
  const one = {
    id: `r of ${name}`,
    name: 'daily',
    purpose: 'users',
    recurs: true,
    shares,
  } as const;
  return [1, 2, 3].map((day) => ({ ...one, from: day * 24, to: day * 24 + 1 }));
}

function stoppedOn(name: NodeName, at: number): Stopped {
  const place = { jobId: (at + 1) as JobId, index: 0, partition: 'default', qos: 'normal' };
  return { ...place, nodes: [name], cpuCount: 1, timeLeftMs: null, reservation: null };
}

test('[P13] a stopped task looks at what is set aside of its own nodes, not at all there is', () => {
  const pool = busyPool(NAMES, { cpus: 1, memory: 1 }, []);
  const board = new Board({ pool, windows: NAMES.flatMap(windowsOn), now: 0 });
  const scheduling = plainScheduling('first_fit');
  const resumer = new Resumer(board, { stopped: NAMES.map(stoppedOn), scheduling });
  CountedShares.looks = 0;
  resumer.resumeFrom(-Infinity);
  assert.equal(resumer.made.length, COUNT);
  // Each of three windows a few times; were all looked at, it would be 120,000 at least.
  assert.ok(CountedShares.looks <= 5 * 3 * COUNT, `${CountedShares.looks} looks`);
});

test('[P13] what a stopped task may run into stays set aside for all others', () => {
  const name = NAMES[0] as NodeName;
  const pool = busyPool([name], { cpus: 2, memory: 7 }, []);
  const board = new Board({ pool, windows: windowsOn(name), now: 0 });
  const want = { resources: resources({ cpus: 1, memory: 7 }), exclusive: false };
  const isFree = (from: number, to: number) => board.lane(name).fits(want, null, from, to);
  const stopped = [stoppedOn(name, 0)];
  new Resumer(board, { stopped, scheduling: plainScheduling('easy') }).resumeFrom(-Infinity);
  assert.deepEqual([isFree(0, 24), isFree(24, 25), isFree(0, 25)], [true, false, false]);
});

test('[P13] a stopped task that is held does not go on where there is room, which nobody else is promised', () => {
  const name = NAMES[0] as NodeName;
  const pool = busyPool([name], { cpus: 2, memory: 7 }, []);
  const board = new Board({ pool, windows: [], now: 0 });
  const stopped = [{ ...stoppedOn(name, 0), timeLeftMs: 10, isHeld: true }];
  const resumer = new Resumer(board, { stopped, scheduling: plainScheduling('easy') });
  resumer.resumeFrom(-Infinity);
  assert.deepEqual(resumer.made, []);
  const want = { resources: resources({ cpus: 2, memory: 7 }), exclusive: false };
  assert.equal(board.lane(name).earliest(want, null, 0, 1), 10);
});

const GAPS = [
  { lasts: 23, times: [24, 48, 72], outlasts: false },
  { lasts: 24, times: [24, 48, 72], outlasts: true },
  { lasts: 24, times: [24, 96, 120], outlasts: false },
  { lasts: 12, times: [24, 36, 48], outlasts: true },
  { lasts: 1e9, times: [24], outlasts: false },
  { lasts: null, times: [24], outlasts: true },
  { lasts: 1e9, times: [], outlasts: false },
];

for (const row of GAPS) {
  const { lasts, times } = row;
  const words = `${lasts ?? 'for ever'} hours beside an hour from ${times.join(', ') || 'never'}`;
  test(`[P13] ${words}: ${row.outlasts ? 'never done between two' : 'can be waited for'}`, () => {
    const spans = times.map((from) => ({ from, to: from + 1 }));
    assert.equal(outlasts(lasts, spans), row.outlasts);
    assert.equal(outlasts(lasts, spans.toReversed()), row.outlasts);
  });
}

/** On one node: times that recur and others, none together with another. */
const calendar = fc.uniqueArray(fc.nat(80), { minLength: 2, maxLength: 12 }).chain((instants) => {
  const at = instants.toSorted((a, b) => a - b);
  const count = Math.floor(at.length / 2);
  return fc.array(fc.boolean(), { minLength: count, maxLength: count }).map((recur) =>
    recur.map((recurs, i) => {
      return { recurs, from: at[2 * i] as number, to: at[2 * i + 1] as number };
    }),
  );
});

type Time = Pick<Window, 'recurs' | 'from' | 'to'>;

/** What P13 says, word by word. */
function mayGoOn(lastsMs: number, times: readonly Time[], now: number): boolean {
  const coming = times.filter(({ to }) => to > now);
  if (coming.some(({ from }) => from <= now)) return false;
  const met = coming.filter(({ from }) => from < now + lastsMs);
  if (met.some(({ recurs }) => !recurs)) return false;
  const recurring = coming.filter(({ recurs }) => recurs);
  const gaps = recurring.slice(1).map(({ from }, i) => from - (recurring[i] as Time).to);
  const never = lastsMs === Infinity || (gaps.length > 0 && gaps.every((gap) => gap < lastsMs));
  return met.length === 0 || never;
}

test('[P13] a stopped task goes on by the rule, at every instant, and beside what recurs before its times end', () => {
  const left = fc.option(fc.integer({ min: 1, max: 60 }));
  fc.assert(
    fc.property(calendar, left, (times, timeLeftMs) => {
      const name = NAMES[0] as NodeName;
      const shares = new Map([[name, 'whole' as const]]);
      const base = { id: 'r1', name: 'r1', purpose: 'users', shares } as const;
      const windows = times.map((one) => ({ ...base, ...one, id: `r${one.from}` }));
      const stopped = [{ ...stoppedOn(name, 0), timeLeftMs }];
      const scheduling = plainScheduling('first_fit');
      const goesOnAt: number[] = [];
      for (let now = 0; now <= 82; now += 1) {
        const pool = busyPool([name], { cpus: 1, memory: 1 }, []);
        const resumer = new Resumer(new Board({ pool, windows, now }), { stopped, scheduling });
        resumer.resumeFrom(-Infinity);
        const goesOn = resumer.made.length === 1;
        assert.equal(goesOn, mayGoOn(timeLeftMs ?? Infinity, times, now), `at ${now}`);
        if (goesOn) goesOnAt.push(now);
      }
      // The head always knows seven; the last one alone would be waited for.
      const isRegular = times.length > 2 && times.every(({ recurs }) => recurs);
      const last = times.at(-1)?.from ?? 0;
      if (isRegular) assert.ok((goesOnAt[0] ?? Infinity) < last, 'it is not starved');
    }),
    { numRuns: 300 },
  );
});
