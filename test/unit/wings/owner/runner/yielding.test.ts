// When a node stands aside for whoever uses its machine: the rules one by one, any course of
// events, and a whole day.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type LocalTime, parseHours } from '../../../../../src/kernel/model/hours.ts';
import type { YieldPause } from '../../../../../src/kernel/model/pause.ts';
import type { Sign, YieldRules } from '../../../../../src/kernel/model/presence.ts';
import {
  beginWatch,
  type Watched,
  watch,
} from '../../../../../src/wings/owner/runner/yielding/decide.ts';
import { presenceOf } from '../../../../../src/wings/owner/runner/yielding/words.ts';

const SECOND = 1000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
/** How often the agent looks. */
const STEP = 5 * SECOND;
/** Monday 2026-03-23, 00:00 UTC. */
const MONDAY = Date.UTC(2026, 2, 23);
const SHOWN = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'Europe/Berlin',
  weekday: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

const RULES: YieldRules = {
  idleBelowMs: 5 * MINUTE,
  sessions: false,
  loadAbove: null,
  hours: null,
  resumeAfterMs: 5 * MINUTE,
  vacateAfterMs: 30 * MINUTE,
};

function hours(text: string): Pick<YieldRules, 'hours'> {
  const parsed = parseHours(text);
  assert.ok(parsed.ok);
  return { hours: parsed.value };
}

/** What a clock on a wall in Berlin shows. */
function inBerlin(at: number): LocalTime {
  const parts = Object.fromEntries(SHOWN.formatToParts(at).map(({ type, value }) => [type, value]));
  const weekday = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'].indexOf(parts['weekday'] ?? '');
  return { weekday, minute: Number(parts['hour']) * 60 + Number(parts['minute']) };
}

/** A node, and what its detectors see. */
class Machine {
  /** Ms since the machine started; its wall clock showed `startsAt` then. */
  time = 0;
  startsAt = MONDAY;
  signs: Sign[] = [];
  watched: Watched = beginWatch(null, { at: MONDAY, monotonic: 0 });
  /** `+12` at which minute it stood aside, `-20` took work again, `>42` sent tasks away. */
  readonly course: string[] = [];
  readonly rules: YieldRules;

  constructor(rules: Partial<YieldRules> = {}) {
    this.rules = { ...RULES, ...rules };
  }

  get now() {
    return { at: this.startsAt + this.time, monotonic: this.time };
  }

  get pause(): YieldPause | null {
    return this.watched.yielding?.pause ?? null;
  }

  get look() {
    return { now: this.now, local: inBerlin(this.now.at), signs: this.signs };
  }

  press(what = 'keyboard on tty2', agoMs = 0): void {
    const last = { at: this.now.at - agoMs, monotonic: this.time - agoMs };
    this.signs = [{ kind: 'input', by: 'terminals', what, last }];
  }

  pass(ms: number, each: () => void = () => undefined): void {
    for (const until = this.time + ms; this.time < until; ) {
      this.time += STEP;
      each();
      const before = this.pause;
      this.watched = watch(this.watched, this.rules, this.look);
      this.#note(before);
    }
  }

  #note(before: YieldPause | null): void {
    const minute = Math.floor(this.time / MINUTE);
    if (before === null && this.pause !== null) this.course.push(`+${minute}`);
    if (before !== null && this.pause === null) this.course.push(`-${minute}`);
    if (before?.requeue === false && this.pause?.requeue) this.course.push(`>${minute}`);
  }
}

test('[O6] a node stands aside at the first input, and works again after idle_below and resume_after', () => {
  const machine = new Machine();
  machine.pass(20 * MINUTE);
  assert.equal(machine.pause, null);
  machine.press();
  machine.pass(STEP);
  const since = machine.now.at;
  assert.deepEqual(machine.pause, {
    kind: 'yield',
    why: 'keyboard on tty2',
    since,
    requeue: false,
  });
  machine.pass(HOUR);
  assert.deepEqual(machine.course, ['+20', '-30']);
});

test('[O6] whoever is back in time finds the machine as it was: resume_after begins anew', () => {
  const machine = new Machine();
  machine.press();
  machine.pass(9 * MINUTE);
  machine.press();
  machine.pass(9 * MINUTE);
  machine.press();
  machine.pass(11 * MINUTE);
  assert.deepEqual(machine.course, ['+0', '-28']);
});

test('[O6] after vacate_after the tasks go elsewhere, once, unless work is about to go on', () => {
  const machine = new Machine();
  const { pass } = machine;
  machine.press();
  machine.pass(29 * MINUTE, () => machine.press());
  machine.pass(5.5 * MINUTE);
  // Quiet since minute 34, when half an hour was over: not sent away, as it may go on at 39.
  assert.deepEqual(machine.course, ['+0', '>30']);
  const other = new Machine({ resumeAfterMs: 10 * MINUTE });
  pass.call(other, 20 * MINUTE, () => other.press());
  other.pass(14 * MINUTE);
  assert.deepEqual(other.course, ['+0']);
  other.press();
  other.pass(STEP);
  assert.deepEqual(other.course, ['+0', '>34']);
  const never = new Machine({ vacateAfterMs: null });
  never.pass(5 * HOUR, () => never.press());
  assert.deepEqual(never.course, ['+0']);
});

test('[O6] who is logged in counts where the site says so, and only there', () => {
  const signs: Sign[] = [
    { kind: 'sessions', by: 'logind', who: ['alice on tty2'] },
    { kind: 'sessions', by: 'utmp', who: ['alice on tty2', 'bob on pts/1'] },
  ];
  const machine = new Machine();
  machine.signs = signs;
  machine.pass(MINUTE);
  assert.equal(machine.pause, null);
  const other = new Machine({ sessions: true });
  other.signs = signs;
  other.pass(MINUTE);
  assert.equal(other.pause?.why, 'logged in: alice on tty2, bob on pts/1');
  other.signs = [{ kind: 'sessions', by: 'logind', who: [] }];
  other.pass(10 * MINUTE);
  assert.deepEqual(other.course, ['+0', '-6']);
});

test('[O6] load counts by its mean over half a minute: a short burst is no use', () => {
  const machine = new Machine({ idleBelowMs: null, loadAbove: 0.5 });
  let cpuMs = 0;
  const use = (cpus: number, ms: number): void =>
    machine.pass(ms, () => {
      cpuMs += cpus * STEP;
      machine.signs = [{ kind: 'load', by: 'load', cpuMs }];
    });
  use(0.2, 5 * MINUTE);
  use(2, 5 * SECOND);
  use(0, 5 * MINUTE);
  assert.deepEqual(machine.course, []);
  use(0.9, 1.5 * MINUTE);
  assert.match(machine.pause?.why ?? '', /^other programs use 0\.\d cpus$/);
  use(0, 10 * MINUTE);
  assert.deepEqual(machine.course, ['+10', '-16']);
});

test('[O6] a set wall clock makes nothing shorter or longer', () => {
  for (const jump of [-5 * HOUR, 5 * HOUR, -2 * MINUTE, 4 * MINUTE]) {
    const machine = new Machine();
    machine.press();
    machine.pass(6 * MINUTE);
    machine.startsAt += jump;
    machine.pass(HOUR);
    assert.deepEqual(machine.course, ['+0', '-10'], String(jump));
  }
});

test('[O6] an agent that starts anew goes on with the pause that its journal has', () => {
  const machine = new Machine();
  machine.press();
  machine.pass(29 * MINUTE, () => machine.press());
  const { pause } = machine;
  machine.watched = beginWatch(pause, machine.now);
  machine.pass(STEP);
  assert.deepEqual(machine.pause, pause);
  machine.pass(2 * MINUTE, () => machine.press());
  assert.deepEqual(machine.course, ['+0', '>30']);
  // A wall clock that was set back meanwhile makes no time pass backwards.
  machine.watched = beginWatch({ ...machine.pause!, since: machine.now.at + HOUR }, machine.now);
  machine.signs = [];
  machine.pass(6 * MINUTE);
  assert.equal(machine.course.at(-1), '-36');
});

test('[O8] the hours follow the clock on the wall, also in the nights in which it is changed', () => {
  const night = { idleBelowMs: null, vacateAfterMs: null, resumeAfterMs: STEP };
  const spring = new Machine({ ...night, ...hours('Sun 01:00-04:00') });
  // From 01:00 it is two hours until 04:00 when the clock is put forward, and four when back.
  spring.startsAt = Date.UTC(2026, 2, 28, 23);
  spring.pass(8 * HOUR);
  assert.deepEqual(spring.course, ['+60', '-180']);
  const autumn = new Machine({ ...night, ...hours('Sun 01:00-04:00') });
  autumn.startsAt = Date.UTC(2026, 9, 24, 22);
  autumn.pass(8 * HOUR);
  assert.deepEqual(autumn.course, ['+60', '-300']);
});

test('[O6] any course: aside at the first sign, back only after quiet, away only after long use', () => {
  const minutes = fc.integer({ min: 0, max: 40 });
  const phases = fc.array(
    fc.record({
      quietMs: minutes.map((count) => count * 15 * SECOND),
      usedMs: minutes.map((count) => count * 45 * SECOND),
      jumpMs: fc.constantFrom(0, 0, -HOUR, 3 * HOUR),
    }),
    { minLength: 1, maxLength: 12 },
  );
  fc.assert(
    fc.property(phases, (all) => {
      const machine = new Machine({ idleBelowMs: STEP });
      let lastUse = Number.NEGATIVE_INFINITY;
      let since = Number.POSITIVE_INFINITY;
      const check = (): void => {
        const { pause, time } = machine;
        const isUsed = lastUse === time;
        if (isUsed) assert.notEqual(pause, null);
        if (pause === null) {
          assert.ok(time - lastUse > RULES.resumeAfterMs);
          since = Number.POSITIVE_INFINITY;
        } else {
          since = Math.min(since, time);
          assert.ok(time - lastUse <= RULES.resumeAfterMs + STEP);
          assert.ok(!pause.requeue || time - since >= 30 * MINUTE);
          if (isUsed && time - since >= 30 * MINUTE) assert.ok(pause.requeue);
        }
      };
      for (const { quietMs, usedMs, jumpMs } of all) {
        machine.startsAt += jumpMs;
        for (const until = machine.time + quietMs; machine.time < until; check())
          machine.pass(STEP);
        for (const until = machine.time + usedMs; machine.time < until; check()) {
          machine.pass(STEP, () => {
            lastUse = machine.time;
            machine.press();
          });
        }
      }
    }),
  );
});

/** From minute to minute of the day. */
const DAY: [from: number, to: number][] = [
  [8 * 60 + 30, 12 * 60],
  [12 * 60 + 20, 12 * 60 + 21],
  [13 * 60, 17 * 60 + 15],
  [22 * 60, 22 * 60 + 2],
];

test('[O6] a day at a desk: at work, away for lunch, once more in the evening', () => {
  const machine = new Machine();
  for (const [from, to] of DAY) {
    machine.pass(from * MINUTE - machine.time);
    machine.pass((to - from) * MINUTE, () => {
      // Reads for three minutes now and then.
      if (Math.floor(machine.time / MINUTE) % 4 === 0) machine.press('mouse (Optical Mouse)');
    });
  }
  machine.pass(24 * HOUR - machine.time);
  const expected = [
    '+512',
    '>542',
    '-730',
    '+740',
    '-750',
    '+780',
    '>810',
    '-1042',
    '+1320',
    '-1330',
  ];
  assert.deepEqual(machine.course, expected);
});

test('[O7] people are shown each detector: what it saw and when, or why it sees nothing', () => {
  const machine = new Machine({ sessions: true, loadAbove: 0.5, ...hours('Mon 08:00-10:00') });
  machine.press('keyboard on tty2', 12 * SECOND);
  machine.signs.push(
    { kind: 'input', by: 'input devices', what: 'mouse', last: null },
    { kind: 'sessions', by: 'logind', who: [] },
    { kind: 'load', by: 'load', cpuMs: 0 },
    { kind: 'blind', by: 'X', of: 'input', why: 'no helper runs in the session on :0' },
  );
  const { at } = machine.now;
  const shown = presenceOf(machine.rules, machine.look, machine.watched.load);
  assert.deepEqual(
    shown.map(({ by, what, at: seenAt, state }) => [by, what, seenAt, state]),
    [
      ['terminals', 'keyboard on tty2', at - 12 * SECOND, 'in_use'],
      ['input devices', 'mouse', null, 'quiet'],
      ['logind', 'nobody is logged in', null, 'quiet'],
      ['load', 'not watched for half a minute yet', null, 'quiet'],
      ['X', 'no helper runs in the session on :0', null, 'blind'],
      ['hours', 'Mon 08:00-10:00', null, 'quiet'],
    ],
  );
});
