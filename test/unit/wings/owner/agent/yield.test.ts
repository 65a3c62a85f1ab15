// The agent looks whether somebody uses its machine: it stops what runs by itself, tells the head
// what was seen, and goes on when the machine is quiet. Virtual time; what detectors see is made
// up.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { AgentPart } from '../../../../../src/kernel/agent/part.ts';
import type { GpuCard } from '../../../../../src/kernel/model/gpu.ts';
import { HOURS_FORM, parseHours } from '../../../../../src/kernel/model/hours.ts';
import type { Presence, Sign, YieldRules } from '../../../../../src/kernel/model/presence.ts';
import { localTime } from '../../../../../src/kernel/os/local-time.ts';
import { ownerPart } from '../../../../../src/wings/owner/agent/part.ts';
import { SessionReports } from '../../../../../src/wings/owner/agent/session-reports.ts';
import type { OwnerFile } from '../../../../../src/wings/owner/model/owner-file.ts';
import { card } from '../../../../support/nodes.ts';
import { FakeWorld } from '../../../kernel/agent/fake-world.ts';
import { idOf, launch, shell } from '../../../kernel/agent/orders.ts';

const MINUTE = 60_000;
const STOP = 19;
const CONT = 18;
const RULES: YieldRules = {
  idleBelowMs: 5 * MINUTE,
  sessions: false,
  loadAbove: null,
  hours: null,
  resumeAfterMs: 5 * MINUTE,
  vacateAfterMs: 30 * MINUTE,
};

let world = new FakeWorld();
let signs: Sign[] = [];
let wanted: string[] = [];

afterEach(async () => {
  await world.kill();
});

/** Job 1 runs as process 1. */
async function running(rules: Partial<YieldRules> = {}, ...parts: AgentPart[]): Promise<void> {
  world = new FakeWorld();
  signs = [];
  setRules(rules);
  world.parts = [...world.parts, ...parts];
  await world.start();
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
}

function setRules(rules: Partial<YieldRules>): void {
  const look = (of: ReadonlySet<string>): Sign[] => {
    wanted = [...of];
    return signs;
  };
  const detectors = { look, close: () => undefined };
  const yielding = { rules: { ...RULES, ...rules }, detectors, localTime };
  world.parts = [ownerPart({ yielding })];
}

function press(): void {
  const last = { at: world.clock.now(), monotonic: world.clock.monotonic() };
  signs = [{ kind: 'input', by: 'terminals', what: 'keyboard on tty2', last }];
}

/** Somebody types all the time. */
async function typeFor(ms: number): Promise<void> {
  for (const until = world.clock.now() + ms; world.clock.now() < until; ) {
    press();
    await world.clock.advance(MINUTE);
  }
}

function signals(): number[] {
  const all = world.launcher.signals.map(({ signal }) => signal);
  return all.filter((signal, at) => signal !== all[at - 1]);
}

function pauses(): (string | null)[] {
  return world.head.reports.flatMap((one) => {
    if (one.kind !== 'node_pause') return [];
    const { pause } = one;
    if (pause?.kind !== 'yield') return [null];
    return [pause.requeue ? `${pause.why}, requeue` : pause.why];
  });
}

/** What the head was told of who uses the machine, each time that it was. */
function presences(): (readonly Presence[])[] {
  return world.head.received.flatMap((message) =>
    message.kind === 'heartbeat' && message.presence !== undefined ? [message.presence] : [],
  );
}

test('[O6] a key stops what runs within seconds, and work goes on when the machine is quiet', async () => {
  await running();
  await world.clock.advance(20_000);
  assert.deepEqual(signals(), []);
  press();
  await world.clock.advance(6000);
  assert.deepEqual(signals(), [STOP]);
  world.launcher.tell({ kind: 'stopped', launchId: 1 });
  world.head.order(launch(2, shell('x')));
  await world.clock.advance(1000);
  assert.equal(world.head.endOf(idOf(2))?.cause, 'never_started');
  assert.match(world.head.endOf(idOf(2))?.detail ?? '', /owner active \(keyboard on tty2\)$/);
  await world.clock.advance(9 * MINUTE);
  assert.deepEqual(signals(), [STOP]);
  await world.clock.advance(2 * MINUTE);
  assert.deepEqual(signals(), [STOP, CONT]);
  assert.deepEqual(pauses(), ['keyboard on tty2', null]);
  assert.deepEqual(wanted, ['input']);
});

test('[O6] after vacate_after the head is told to send tasks elsewhere', async () => {
  await running();
  await typeFor(35 * MINUTE);
  assert.deepEqual(pauses(), ['keyboard on tty2', 'keyboard on tty2, requeue']);
});

test('[O6] a killed agent goes on with its pause, and resumes when the machine is quiet', async () => {
  await running();
  await typeFor(2 * MINUTE);
  world.launcher.tell({ kind: 'stopped', launchId: 1 });
  await world.clock.settle();
  await world.kill();
  signs = [];
  await world.start();
  assert.equal(world.agent?.pausing.now?.kind, 'yield');
  await world.clock.advance(4 * MINUTE);
  assert.equal(world.agent?.pausing.now?.kind, 'yield');
  await world.clock.advance(1.5 * MINUTE);
  assert.equal(world.agent?.pausing.now, null);
  assert.equal(signals().at(-1), CONT);
});

test('[O6] a node whose rules were taken away takes work again', async () => {
  await running();
  await typeFor(2 * MINUTE);
  await world.kill();
  const told = presences().length;
  world.parts = [ownerPart({ yielding: null })];
  await world.start();
  await world.clock.advance(10);
  assert.equal(world.agent?.pausing.now, null);
  assert.equal(presences().length, told, 'nobody looks any more');
});

test("[O11] a line of the owner's file that is misspelt resumes nothing", async () => {
  world = new FakeWorld();
  signs = [];
  const over = () => ({
    rules: RULES,
    detectors: { look: () => signs, close: () => undefined },
    localTime,
  });
  const rules = { users: null, cpuCount: 0, gpuCount: 0, yield: { idleBelowMs: 300_000 } };
  let file: OwnerFile = { rules, problem: null };
  const parts = [ownerPart({ yielding: null, rules: { read: () => file, over } })];
  world.parts = parts;
  await world.start();
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  press();
  await world.clock.advance(6000);
  world.launcher.tell({ kind: 'stopped', launchId: 1 });
  file = { rules: null, problem: "owner.yaml:1: 'idle_bellow: 5m' is no rule" };
  await typeFor(3 * MINUTE);
  assert.deepEqual(signals(), [STOP], 'the rules before hold');
  await world.kill();
  world.parts = parts;
  await world.start();
  await world.clock.advance(20 * MINUTE);
  assert.equal(world.agent?.pausing.now?.kind, 'yield', 'and an agent that has none leaves it');
  file = { rules: null, problem: null };
  await world.clock.advance(MINUTE);
  assert.equal(world.agent?.pausing.now, null);
});

test('[O6] the pause that somebody asked for is shown, and either keeps the node from working', async () => {
  await running();
  await typeFor(2 * MINUTE);
  world.launcher.tell({ kind: 'stopped', launchId: 1 });
  await world.clock.settle();
  const asked = world.agent!.pausing.pause({ by: 'alice', durationMs: MINUTE, requeue: false });
  await world.clock.advance(10);
  assert.ok((await asked).ok);
  assert.equal(world.agent?.pausing.now?.kind, 'owner');
  await world.clock.advance(2 * MINUTE);
  assert.equal(world.agent?.pausing.now?.kind, 'yield');
  assert.equal(signals().at(-1), STOP);
});

test('[O7] the head is told what was seen when it changes, and anew in each session', async () => {
  await running();
  signs = [{ kind: 'blind', by: 'logind', of: 'sessions', why: 'no logind runs' }];
  await world.clock.advance(MINUTE);
  const blind = { by: 'logind', what: 'no logind runs', at: null, state: 'blind' };
  assert.deepEqual(presences(), [[], [blind]]);
  world.head.cut();
  await world.clock.advance(10_000);
  assert.deepEqual(presences().slice(2), [[blind]]);
});

test('[O6] the hours are read in the local time of the machine', async () => {
  // Virtual time stands at the beginning of 1970, a Thursday; whatever the zone, it is no Monday.
  const parsed = parseHours('Wed-Fri 00:00-24:00');
  assert.ok(parsed.ok, HOURS_FORM);
  await running({ idleBelowMs: null, hours: parsed.value });
  await world.clock.advance(6000);
  assert.deepEqual(pauses(), ["its owner's hours, Wed-Fri 00:00-24:00"]);
});

test('[O7] a report of a session stands in for its blind display, until it is a minute old', () => {
  const reports = new SessionReports();
  const blind: Sign = { kind: 'blind', by: 'display :0', of: 'input', why: 'no helper' };
  const at = (monotonic: number) => ({ at: 1_000_000 + monotonic, monotonic });
  reports.note({ display: ':0', user: 'alice', seen: { idleMs: 4000 } }, at(10_000));
  assert.deepEqual(reports.laidOver([blind], at(12_000)), [
    {
      kind: 'input',
      by: 'display :0',
      what: 'keyboard or mouse on :0 (alice)',
      last: at(6000),
    },
  ]);
  assert.deepEqual(reports.laidOver([blind], at(70_001)), [blind]);
  reports.note({ display: ':0', user: 'alice', seen: { why: 'Wayland' } }, at(80_000));
  assert.deepEqual(reports.laidOver([], at(80_000)), [{ ...blind, why: 'Wayland' }]);
  for (let display = 0; display < 40; display += 1) {
    reports.note({ display: `:${display}`, user: 'alice', seen: { idleMs: 1 } }, at(80_000));
  }
  assert.equal(reports.laidOver([], at(80_000)).length, 16);
});

test('[V27] whoever uses a gpu of the node outside of tasks has the node for as long', async () => {
  let cards: readonly GpuCard[] = [];
  const tells: AgentPart = {
    accompany: () => ({
      gpus: () => ({ count: 2, counted: {}, gpus: { cards, driver: null, remark: null } }),
    }),
  };
  await running({ idleBelowMs: null, gpus: true }, tells);
  assert.deepEqual(wanted, ['gpus']);
  assert.deepEqual(
    presences()[0]?.map(({ by, state }) => [by, state]),
    [['gpus', 'blind']],
  );
  const pid = 7;
  const ben = { pid, user: 'ben', program: 'python3 train.py', memoryBytes: null, since: 0 };
  cards = [card(0), card(1, { users: [ben] })];
  await world.clock.advance(MINUTE);
  assert.deepEqual(pauses(), [], 'whoever keeps no card from being given is nobody');
  const outside = { state: 'used_outside', users: [ben] } as const;
  cards = [card(0), card(1, { ...outside, kept: true })];
  await world.clock.advance(MINUTE);
  assert.deepEqual(pauses(), [], 'nor is who draws on a card that its owner keeps');
  cards = [card(0), card(1, { ...outside, users: [{ ...ben, task: '1#1' }] })];
  await world.clock.advance(MINUTE);
  assert.deepEqual(pauses(), [], 'nor is a task');
  cards = [card(0), card(1, outside)];
  await world.clock.advance(MINUTE);
  assert.deepEqual(pauses(), ['gpus are used: ben on gpu 1 (python3 train.py)']);
  assert.equal(signals()[0], STOP);
  world.launcher.tell({ kind: 'stopped', launchId: 1 });
  cards = [card(0), card(1, { state: 'used_outside' })];
  await world.clock.advance(RULES.resumeAfterMs + MINUTE);
  assert.deepEqual([pauses().at(-1), signals().at(-1)], [null, CONT]);
});
