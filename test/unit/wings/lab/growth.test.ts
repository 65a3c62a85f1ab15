// When the disk of the head will be full, and what the doctor says of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findings } from '../../../../src/wings/lab/cli/room-check.ts';
import { fullAt, LOOK_MS, LOOKS_MAX, type Look } from '../../../../src/wings/lab/core/growth.ts';
import { Room } from '../../../../src/wings/lab/head/room.ts';

const GIB = 2 ** 30;
const DAY_MS = 24 * LOOK_MS;
/** Hourly looks at a disk of which so much is free after so many hours. */
const looks = (hours: number, free: (hour: number) => number): Look[] =>
  Array.from({ length: hours }, (_, at) => ({ at: at * LOOK_MS, freeBytes: free(at) }));

test('[Y24] a disk that loses as much each hour is full when the last is gone', () => {
  const at = fullAt(looks(49, (hour) => (100 - hour) * GIB));
  assert.ok(at !== null);
  assert.ok(Math.abs(at - 100 * LOOK_MS) < LOOK_MS / 60, String(at / LOOK_MS));
});

test('[Y24] days and nights, and what comes and goes, do not make it full', () => {
  assert.equal(fullAt(looks(72, (hour) => (50 + (hour % 2)) * GIB)) ?? Infinity, Infinity);
  assert.equal(fullAt(looks(48, () => 50 * GIB)), null);
  const daily = fullAt(looks(14 * 24, (hour) => (50 + 5 * Math.cos((hour / 12) * Math.PI)) * GIB));
  assert.ok(daily === null || daily > 365 * DAY_MS, String((daily ?? 0) / DAY_MS));
});

test('[Y24] nothing is told of less than a day', () => {
  assert.equal(fullAt([]), null);
  assert.equal(fullAt(looks(24, (hour) => (100 - hour) * GIB)), null);
});

test('[Y24] the head looks each hour, keeps two weeks, and begins anew when its clock is set back', () => {
  let now = 1_000_000 * DAY_MS;
  let elapsed = 1;
  let freeBytes = 1000 * GIB;
  const clock = { now: () => now, monotonic: () => elapsed };
  const room = new Room(clock, () => ({ freeBytes, totalBytes: 2000 * GIB }));
  assert.equal(room.view().lookedAtSince, null);
  for (let hour = 0; hour < LOOKS_MAX + 10; hour += 1) {
    room.tick();
    room.tick();
    now += LOOK_MS;
    elapsed += LOOK_MS;
    freeBytes -= GIB;
  }
  const { lookedAtSince, lostBytesPerDay, fullAt: full } = room.view();
  assert.equal((now - (lookedAtSince ?? 0)) / LOOK_MS, LOOKS_MAX);
  assert.ok(Math.abs((lostBytesPerDay ?? 0) - 24 * GIB) < 1000);
  assert.ok(full !== null && full > now);
  now -= 400 * DAY_MS;
  elapsed += LOOK_MS;
  room.tick();
  assert.equal(room.view().lookedAtSince, now);
  assert.equal(room.view().fullAt, null);
});

test('[Y24] the doctor says when, and what to do while there is time', () => {
  const now = 1_000_000 * DAY_MS;
  const room = { freeBytes: 12 * GIB, totalBytes: 80 * GIB, lookedAtSince: now };
  const tell = (lostBytesPerDay: number | null, days: number | null) =>
    findings({ ...room, lostBytesPerDay, fullAt: days === null ? null : now + days * DAY_MS }, now);
  assert.deepEqual(tell(null, null), [
    { state: 'ok', text: "the head's disk has 12G of 80G free" },
  ]);
  assert.match(tell(-GIB, null)[0]?.text ?? '', /80G free, and is not full within 60 days$/);
  const soon = tell(1.5 * GIB, 9.6)[0];
  assert.equal(soon?.state, 'note');
  assert.match(soon?.text ?? '', /loses 1\.5G a day, and is full in 9 days if that goes on/);
  assert.match(soon?.remedy ?? '', /history\.keep/);
  const late = tell(30 * GIB, 0.4)[0];
  assert.equal(late?.state, 'bad');
  assert.match(late?.text ?? '', /full within a day/);
});
