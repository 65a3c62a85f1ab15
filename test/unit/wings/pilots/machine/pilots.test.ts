// Fleets of pilots: what is asked of a foreign batch system, what its listings mean, and when a
// fleet grows, shrinks, pauses and is gone.

import assert from 'node:assert/strict';
import type { Actor } from '../../../../../src/kernel/model/actor.ts';
import type { NodeName } from '../../../../../src/kernel/model/ids.ts';
import {
  FLEETS_MAX,
  PILOT_END_MARGIN_MS,
  PILOT_RETRY_MS,
} from '../../../../../src/kernel/model/limits.ts';
import type { PilotSeen, StartFleet } from '../../../../../src/wings/pilots/machine/commands.ts';
import type { PilotRequest } from '../../../../../src/wings/pilots/model/pilot.ts';
import {
  ADMIN,
  ANN,
  BOB,
  kinds,
  START_AT,
  scenario,
  submission,
  type TestHead,
} from '../../../../support/controller.ts';
import { why } from '../../../../support/why.ts';

const SYSTEM: Actor = { kind: 'system' };
const HOUR = 3_600_000;

const WISH: PilotRequest = {
  system: 'slurm',
  cpuCount: 2,
  memoryBytes: null,
  walltimeMs: HOUR,
  isolated: false,
  queue: null,
  options: [],
  image: null,
  dockerArgs: [],
  directory: '/w',
  sharedPaths: [],
};

function start(head: TestHead, more: Partial<StartFleet> = {}): void {
  const range = { isOnce: false, min: 0, max: 4, idleMs: 60_000 };
  head.command({ kind: 'start_fleet', name: 'f', tag: 'ab', ...range, wish: WISH, ...more });
}

function note(head: TestHead, launch: number, site: string): void {
  const said = { kind: 'submitted', site } as const;
  head.command({ kind: 'note_launch', fleet: 'f', launch, said }, SYSTEM);
}

function refuse(head: TestHead, launch: number, words = 'invalid partition'): void {
  const said = { kind: 'refused', why: words } as const;
  head.command({ kind: 'note_launch', fleet: 'f', launch, said }, SYSTEM);
}

function see(head: TestHead, launch: number, ...seen: PilotSeen[]): void {
  head.command({ kind: 'observe_pilots', fleet: 'f', launch, seen }, SYSTEM);
}

const running = (index: number, endsAt: number | null = null): PilotSeen => {
  return { index, state: 'running', endsAt };
};
const gone = (index: number, words = 'TIMEOUT'): PilotSeen => ({
  index,
  state: 'gone',
  why: words,
});

/** One that is submitted, runs and has joined. */
function up(head: TestHead, launch: number, index: number, endsAt: number | null = null): void {
  head.connect(`f-${launch}-${index}`, { cpus: 2, labels: ['pilot=f', 'system=slurm'] });
  see(head, launch, running(index, endsAt));
}

function phases(head: TestHead): string[] {
  const { launches } = head.state.fleets.get('f') ?? { launches: new Map() };
  return [...launches.values()].flatMap((launch) =>
    [...launch.pilots.values()].map(({ node, phase, leaving }) => {
      return `${node} ${leaving === null ? phase : 'leaving'}`;
    }),
  );
}

scenario('[Q1] a fixed fleet is one submission, and is over with its last pilot', (head) => {
  start(head, { isOnce: true, min: 3, max: 3 });
  assert.deepEqual(phases(head), ['f-1-1 waiting', 'f-1-2 waiting', 'f-1-3 waiting']);
  note(head, 1, '17');
  head.crash();
  for (const index of [1, 2, 3]) up(head, 1, index);
  assert.deepEqual(phases(head), ['f-1-1 up', 'f-1-2 up', 'f-1-3 up']);
  see(head, 1, gone(1), gone(2));
  assert.equal(head.state.nodes.has('f-1-1' as NodeName), false);
  head.tick();
  assert.deepEqual(phases(head), ['f-1-3 up']);
  see(head, 1, gone(3));
  assert.equal(head.state.fleets.size, 0);
});

scenario('[Q2] a pilot gets work only once its end is known', (head) => {
  start(head, { isOnce: true, min: 1, max: 1 });
  note(head, 1, '17');
  const job = head.submit({ walltimeMs: 1000 });
  head.connect('f-1-1', { cpus: 2 });
  assert.deepEqual(head.schedule(), []);
  see(head, 1, running(1, START_AT + HOUR));
  assert.deepEqual(head.schedule(), [`${job}#1@f-1-1`]);
});

scenario('[Q2] what would outlast a pilot does not start there, and why says so', (head) => {
  start(head, { isOnce: true, min: 1, max: 1 });
  note(head, 1, '17');
  up(head, 1, 1, START_AT + HOUR);
  const long = head.submit({ walltimeMs: HOUR });
  const endless = head.submit({ walltimeMs: null });
  assert.deepEqual(head.schedule(), []);
  assert.equal(why(head, long), 'node_end: it could outlast pilot f-1-1, which ends in 59m55s');
  assert.match(why(head, endless), /it has no time limit and could outlast pilot f-1-1/);
  const short = head.submit({ walltimeMs: HOUR - PILOT_END_MARGIN_MS });
  assert.deepEqual(head.schedule(), [`${short}#1@f-1-1`]);
});

scenario('[Q2] a worker of a pool without a time limit begins where there is time left', (head) => {
  start(head, { isOnce: true, min: 1, max: 1 });
  note(head, 1, '17');
  up(head, 1, 1, START_AT + HOUR);
  const pool = { name: null, min: 1, max: 1, idleMs: 60_000 };
  head.command({ kind: 'start_pool', worker: {}, key: null, secret: 's', pool }, ANN);
  assert.deepEqual(head.schedule(), ['1[0]#1@f-1-1']);
});

scenario('[Q2] a worker of a pool does not begin in the last moments of a pilot', (head) => {
  start(head, { isOnce: true, min: 1, max: 1 });
  note(head, 1, '17');
  up(head, 1, 1, START_AT + 20_000);
  const pool = { name: null, min: 1, max: 1, idleMs: 60_000 };
  head.command({ kind: 'start_pool', worker: {}, key: null, secret: 's', pool }, ANN);
  assert.deepEqual(head.schedule(), []);
});

scenario('[Q3] a fleet grows by what waits for it, and no further than its bound', (head) => {
  start(head);
  head.tick();
  assert.deepEqual(phases(head), []);
  // What could not run on its pilots asks for none.
  head.connect('other', { labels: ['gpu'] });
  head.submit({ labels: ['gpu'], walltimeMs: 1000 });
  head.submit({ walltimeMs: HOUR });
  head.submit({ walltimeMs: null });
  head.tick();
  assert.deepEqual(phases(head), []);
  for (let count = 0; count < 3; count += 1) head.submit({ walltimeMs: 1000 });
  head.tick();
  assert.deepEqual(phases(head), ['f-1-1 waiting', 'f-1-2 waiting']);
  head.submit({ array: { indices: '0-99' }, walltimeMs: 1000 });
  head.tick();
  // The answer to the first submission comes first.
  assert.equal(phases(head).length, 2);
  note(head, 1, '17');
  assert.deepEqual(phases(head).slice(2), ['f-2-1 waiting', 'f-2-2 waiting']);
});

scenario('[Q3] work that outlasts what the batch system lets pilots have asks for none', (head) => {
  start(head, { min: 1, max: 4, wish: { ...WISH, walltimeMs: null } });
  note(head, 1, '17');
  up(head, 1, 1, START_AT + HOUR);
  head.submit({ walltimeMs: HOUR });
  head.submit({ walltimeMs: null });
  head.tick();
  assert.deepEqual(phases(head), ['f-1-1 up']);
  const pool = { name: null, min: 4, max: 4, idleMs: 60_000 };
  head.command({ kind: 'start_pool', worker: {}, key: null, secret: 's', pool }, ANN);
  head.schedule();
  head.tick();
  assert.deepEqual(phases(head), ['f-1-1 up', 'f-2-1 waiting']);
});

scenario('[Q3] work may count on pilots that are still to come, and why names them', (head) => {
  start(head);
  const job = head.submit({ labels: ['pilot=f'], walltimeMs: 1000 });
  assert.equal(why(head, job), 'pilots: waits for pilots of fleet f');
  head.tick();
  refuse(head, 1, 'no such queue');
  assert.equal(
    why(head, job),
    'pilots: waits for pilots of fleet f, which failed to start: no such queue',
  );
});

scenario('[Q3] pilots without work leave after the idle time, but for the least', (head) => {
  start(head, { min: 1, max: 3 });
  note(head, 1, '17');
  up(head, 1, 1);
  const job = head.submit({ array: { indices: '0-5' }, walltimeMs: 1000 });
  head.schedule();
  head.tick();
  note(head, 2, '18');
  for (const index of [1, 2]) up(head, 2, index);
  head.schedule();
  for (const index of [0, 1, 2, 3, 4, 5]) head.started(`${job}[${index}]#1`);
  head.tick(120_000);
  assert.deepEqual(phases(head), ['f-1-1 up', 'f-2-1 up', 'f-2-2 up']);
  for (const index of [0, 1, 2, 3, 4]) head.ended(`${job}[${index}]#1`);
  head.tick();
  head.tick(59_000);
  assert.deepEqual(phases(head), ['f-1-1 up', 'f-2-1 up', 'f-2-2 up']);
  head.tick(1000);
  // The last one is at work.
  assert.deepEqual(phases(head), ['f-1-1 leaving', 'f-2-1 leaving', 'f-2-2 up']);
  assert.equal(head.node('f-2-1').drain?.reason, 'no work for 60 s');
  see(head, 2, gone(1, 'CANCELLED'));
  assert.deepEqual(phases(head), ['f-1-1 leaving', 'f-2-2 up']);
  head.ended(`${job}[5]#1`);
  head.tick(HOUR);
  head.tick(HOUR);
  assert.deepEqual(phases(head), ['f-1-1 leaving', 'f-2-2 up'], 'the least one stays');
});

scenario('[Q3] a job in a directory of pilots may run there, whatever others share', (head) => {
  head.connect('home', { shared: ['/'] });
  start(head, { wish: { ...WISH, sharedPaths: ['/w'] } });
  const directory = { kind: 'auto', path: '/w/a' } as const;
  const there = head.submit({ directory, labels: ['pilot=f'], walltimeMs: 1000 });
  assert.deepEqual(head.job(there).spec.request.labels, ['pilot=f', 'shared=/w']);
  const here = head.submit({ directory, walltimeMs: 1000 });
  assert.deepEqual(head.job(here).spec.request.labels, ['shared=/w']);
});

scenario(
  '[Q4] after three failed starts in a row it pauses with the words, until scaled',
  (head) => {
    start(head, { min: 1 });
    refuse(head, 1);
    assert.deepEqual(phases(head), []);
    head.tick(PILOT_RETRY_MS);
    note(head, 2, '18');
    see(head, 2, gone(1, 'it ended: FAILED'));
    head.tick(PILOT_RETRY_MS);
    assert.deepEqual(phases(head), [], 'it waits longer than the first time');
    head.tick(PILOT_RETRY_MS);
    refuse(head, 3, 'no such queue');
    const events = head.tick(HOUR);
    assert.deepEqual(events, []);
    const fleet = head.state.fleets.get('f');
    assert.deepEqual([fleet?.isPaused, fleet?.trouble], [true, 'no such queue']);
    head.crash();
    head.tick(HOUR);
    assert.deepEqual(phases(head), []);
    head.command({ kind: 'scale_fleet', fleet: 'f' });
    assert.deepEqual(phases(head), ['f-4-1 waiting']);
  },
);

scenario('[Q4] a node that comes forgives the failures before it', (head) => {
  start(head, { min: 1 });
  refuse(head, 1);
  head.tick(PILOT_RETRY_MS);
  note(head, 2, '18');
  up(head, 2, 1);
  assert.equal(head.state.fleets.get('f')?.failures, 0);
  see(head, 2, gone(1));
  assert.deepEqual(phases(head), ['f-3-1 waiting'], 'its end is no failure, and it is followed');
});

scenario('[Q5] a stopped fleet has all its pilots leave, and goes with the last', (head) => {
  start(head, { min: 2 });
  note(head, 1, '17');
  up(head, 1, 1);
  const job = head.submit({ walltimeMs: 1000 });
  head.schedule();
  head.started(`${job}#1`);
  head.command({ kind: 'stop_fleet', fleet: 'f' });
  assert.deepEqual(phases(head), ['f-1-1 leaving', 'f-1-2 leaving']);
  see(head, 1, gone(1, 'CANCELLED'), gone(2, 'CANCELLED'));
  assert.equal(head.state.fleets.size, 0);
  assert.equal(head.state.nodes.size, 0);
  assert.equal(head.job(job).pending.size, 1, 'what ran there is back in the queue');
  assert.equal(head.task(`${job}`).crashes, 0, 'it took no node down');
});

scenario('[Q5] a launch that was never submitted ends with the stop', (head) => {
  start(head, { min: 2 });
  head.command({ kind: 'stop_fleet', fleet: 'f' });
  assert.equal(head.state.fleets.size, 1);
  refuse(head, 1, 'it was stopped before');
  assert.equal(head.state.fleets.size, 0);
});

scenario('[Q6] the token of a launch lets its own pilots in, and only until all have', (head) => {
  start(head, { isOnce: true, min: 2, max: 2 });
  const expiresAt = START_AT + HOUR;
  const token = { tokenId: 't', hash: 'h', purpose: 'join', label: 'pilots of f-1' } as const;
  head.command({ kind: 'create_token', ...token, user: 'ada' as never, expiresAt }, SYSTEM);
  note(head, 1, '17');
  const enroll = (node: string) => {
    const rest = { secretHash: 's', resources: null, labels: [], replace: false, tokenId: 't' };
    return { kind: 'enroll_node', node: node as NodeName, ...rest } as const;
  };
  assert.equal(head.refused(enroll('other'), SYSTEM), 'argument.invalid');
  head.command(enroll('f-1-1'), SYSTEM);
  head.tick();
  assert.equal(head.state.tokens.size, 1);
  head.command(enroll('f-1-2'), SYSTEM);
  head.tick();
  assert.equal(head.state.tokens.size, 0);
});

scenario(
  '[Q6] a fleet revokes none of the tokens of one whose name goes on from its own',
  (head) => {
    start(head, { name: 'f-a', min: 1 });
    start(head, { min: 1 });
    const token = { tokenId: 't', hash: 'h', purpose: 'join', label: 'pilots of f-a-1' } as const;
    const expiresAt = START_AT + HOUR;
    head.command({ kind: 'create_token', ...token, user: 'ada' as never, expiresAt }, SYSTEM);
    head.tick();
    assert.equal(head.state.tokens.size, 1);
    head.command({ kind: 'stop_fleet', fleet: 'f' });
    refuse(head, 1, 'it was stopped before');
    assert.equal(head.state.tokens.size, 1);
  },
);

scenario('[Q10] a fleet for its user alone runs what that one submits and nothing else', (head) => {
  head.connect('n1', { cpus: 1 });
  const job = head.submit({ walltimeMs: 1000 }, { by: BOB });
  head.command({ kind: 'remove_node', node: 'n1' as NodeName });
  start(head, { ownOnly: true, isOnce: true, min: 1, max: 1 });
  note(head, 1, '17');
  head.crash();
  up(head, 1, 1);
  assert.deepEqual(head.schedule(), []);
  assert.match(why(head, job), /pilots of f run only the work of who started them/);
  const own = head.submit({ walltimeMs: 1000 }, { by: ADMIN });
  assert.deepEqual(head.schedule(), [`${own}#1@f-1-1`]);
  const there = submission({ labels: ['pilot=f'] });
  assert.equal(head.refused(there, BOB), 'resources.unsatisfiable');
  head.started(`${own}#1`);
  see(head, 1, gone(1));
  head.connect('n1', { cpus: 4 });
  assert.deepEqual(head.schedule().length, 2);
});

scenario('[Q10] what others submit asks for no pilots of a fleet for one user', (head) => {
  start(head, { ownOnly: true });
  head.connect('n1', { cpus: 1 });
  head.submit({ walltimeMs: 1000, array: { indices: '0-9' } }, { by: BOB });
  head.tick();
  assert.deepEqual(phases(head), []);
  head.submit({ walltimeMs: 1000 }, { by: ADMIN });
  head.tick();
  assert.deepEqual(phases(head), ['f-1-1 waiting']);
});

scenario('[Q7] pilots are for admins, and only the head says what a batch system said', (head) => {
  const wish: StartFleet = {
    kind: 'start_fleet',
    name: 'f',
    tag: 'ab',
    isOnce: true,
    min: 1,
    max: 1,
    idleMs: 0,
    wish: WISH,
  };
  assert.equal(head.refused(wish, ANN), 'auth.role_needed');
  assert.equal(head.refused({ ...wish, name: '1f' }), 'argument.invalid');
  assert.equal(head.refused({ ...wish, max: 0 }), 'argument.invalid');
  assert.equal(head.refused({ ...wish, min: 2 }), 'argument.invalid');
  const bad = (more: Partial<PilotRequest>) =>
    head.refused({ ...wish, wish: { ...WISH, ...more } });
  assert.equal(bad({ walltimeMs: 59_999 }), 'argument.invalid');
  assert.equal(bad({ dockerArgs: ['-v'] }), 'argument.invalid');
  assert.equal(bad({ options: ['a\nb'] }), 'argument.invalid');
  assert.equal(bad({ directory: 'w' }), 'argument.invalid');
  head.command(wish);
  assert.equal(head.refused(wish), 'pilot.name_taken');
  const said = { kind: 'submitted', site: '1' } as const;
  const told = { kind: 'note_launch', fleet: 'f', launch: 1, said } as const;
  assert.equal(head.refused(told, ADMIN), 'argument.invalid');
  assert.equal(head.refused(told, ANN), 'auth.role_needed');
  assert.equal(head.refused({ kind: 'stop_fleet', fleet: 'g' }), 'pilot.not_found');
  const scale = { kind: 'scale_fleet', fleet: 'f', max: 3 } as const;
  assert.equal(head.refused(scale), 'argument.invalid');
});

scenario('[Q7] what is told twice, or of a launch that is over, changes nothing', (head) => {
  start(head, { isOnce: true, min: 1, max: 1 });
  note(head, 1, '17');
  note(head, 1, '18');
  assert.equal(head.state.fleets.get('f')?.launches.get(1)?.site, '17');
  see(head, 9, gone(1));
  see(head, 1, gone(7));
  const events = head.perform({
    kind: 'command',
    actor: SYSTEM,
    command: { kind: 'observe_pilots', fleet: 'f', launch: 1, seen: [running(1), running(1)] },
  }).events;
  assert.deepEqual(kinds(events), ['pilot_seen']);
});

scenario('so many fleets at most, and no more', (head) => {
  for (let nth = 0; nth < FLEETS_MAX; nth += 1) start(head, { name: `f${nth}` });
  const range = { isOnce: false, min: 0, max: 1, idleMs: 60_000 };
  const more = { kind: 'start_fleet', name: 'more', tag: 'ab', ...range, wish: WISH } as const;
  assert.equal(head.refused(more), 'pilot.too_many');
});
