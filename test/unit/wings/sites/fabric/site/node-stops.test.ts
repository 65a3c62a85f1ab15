// Nodes that a site keeps from jobs for a maintenance: stopped, opened for its program, given back
// as they were; also when the gateway is killed before or after any of its commands.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ok } from '../../../../../../src/kernel/base/result.ts';
import type { StopRequest } from '../../../../../../src/kernel/model/site.ts';
import type { Command, CommandEnd, Commands } from '../../../../../../src/kernel/ports/commands.ts';
import type { Adaptor } from '../../../../../../src/wings/sites/adaptors/adaptor.ts';
import { script } from '../../../../../../src/wings/sites/adaptors/script/script.ts';
import { slurm } from '../../../../../../src/wings/sites/adaptors/slurm/slurm.ts';
import { executionQueue } from '../../../../../../src/wings/sites/adaptors/slurm/steer.ts';
import {
  LAPSE_MS,
  LATE_MS,
  NodeStops,
} from '../../../../../../src/wings/sites/fabric/site/node-stops.ts';
import type { SiteNotes } from '../../../../../../src/wings/sites/ports/sites.ts';
import { VirtualClock } from '../../../../kernel/agent/fake-world.ts';
import { KeptLog } from '../../../../kernel/head/http/fixture.ts';
import { FakeSlurm } from './fake-slurm.ts';

const LONG = 3_600_000;
const UNTIL = new VirtualClock().now() + LONG;
const WISH: StopRequest = { node: 'n1', maintenance: 'm3', until: UNTIL };
const OURS = 'weft maintenance m3';
/** How long after a command without an answer its site may still be at it. */
const HELD_MS = 1000 + LATE_MS;

/** Kept over the death of gateways, as files are. */
class KeptNotes implements SiteNotes {
  readonly files = new Map<string, string>();
  all(): ReadonlyMap<string, string> {
    return new Map(this.files);
  }
  write(node: string, text: string): void {
    this.files.set(node, text);
  }
  remove(node: string): void {
    this.files.delete(node);
  }
}

class World {
  readonly site = new FakeSlurm();
  readonly clock = new VirtualClock();
  readonly notes = new KeptNotes();
  readonly log = new KeptLog();
  /** Commands left until the gateway dies; null: it lives. */
  #left: number | null = null;
  #dies: 'before' | 'after' = 'before';
  #generation = 0;
  readonly #adaptor: Adaptor;
  stops: NodeStops;

  constructor(change: Partial<Adaptor> = {}) {
    const steering = executionQueue({ main: 'main', execution: 'steer' });
    this.#adaptor = { ...slurm(steering), ...change };
    this.stops = this.startAgain();
  }

  /** The process before says and does nothing any more. */
  startAgain(): NodeStops {
    this.#generation += 1;
    this.#left = null;
    const own = this.#generation;
    const commands: Commands = { run: (command) => this.#run(own, command) };
    this.stops = new NodeStops({
      adaptor: this.#adaptor,
      commands,
      clock: this.clock,
      log: this.log,
      notes: this.#notesOf(own),
      settings: { timeoutMs: 1000, before: [] },
    });
    return this.stops;
  }

  dieAt(command: number, when: 'before' | 'after'): void {
    this.#left = command;
    this.#dies = when;
  }

  async #run(own: number, command: Command): Promise<CommandEnd> {
    if (own !== this.#generation) return await NEVER;
    if (this.#left === null) return await this.site.run(command);
    this.#left -= 1;
    if (this.#left >= 0) return await this.site.run(command);
    if (this.#dies === 'after' && this.#left === -1) await this.site.run(command);
    return await NEVER;
  }

  #notesOf(own: number): SiteNotes {
    const ifAlive = (act: () => void): void => {
      if (own === this.#generation) act();
    };
    return {
      all: () => this.notes.all(),
      write: (node, text) => ifAlive(() => this.notes.write(node, text)),
      remove: (node) => ifAlive(() => this.notes.remove(node)),
    };
  }

  node(): { isDrained: boolean; reason: string } {
    const [node = {}] = this.site.nodes;
    const flags = (node['state_flags'] ?? []) as string[];
    return { isDrained: flags.includes('DRAIN'), reason: String(node['reason'] ?? '') };
  }

  drain(reason: string): void {
    Object.assign(this.site.nodes[0] ?? {}, { state_flags: ['DRAIN'], reason });
  }

  async want(...wishes: StopRequest[]): Promise<void> {
    this.stops.want(wishes);
    await this.clock.settle();
  }

  /** A look with what the site lists now. */
  async listed(): Promise<void> {
    const { command, read } = this.#adaptor.nodes;
    const keep = { part: 'first', length: 1e6 } as const;
    const said = await this.site.run({ argv: command.argv, timeoutMs: 1000, keep });
    const nodes = read({ stdout: said.output, stderr: said.errors, code: said.code });
    assert.ok(nodes.ok);
    this.stops.look(nodes.value);
    await this.clock.settle();
  }

  async look(): Promise<void> {
    this.stops.look();
    await this.clock.settle();
  }

  /** Commands that changed something. */
  updates(): string[] {
    return this.site.ran.filter(([name]) => name === 'scontrol').map((argv) => argv.join(' '));
  }
}

const NEVER = new Promise<never>(() => undefined);

test('[M9] a node is stopped while it is wanted, and then takes jobs as before', async () => {
  const world = new World();
  await world.want(WISH);
  assert.deepEqual(world.node(), { isDrained: true, reason: OURS });
  assert.deepEqual(world.stops.all, [
    { node: 'n1', maintenance: 'm3', state: 'stopped', why: null },
  ]);
  await world.want(WISH);
  assert.equal(world.updates().length, 1, 'once');
  await world.want();
  assert.deepEqual(world.node(), { isDrained: false, reason: '' });
  assert.deepEqual([world.stops.all, world.notes.files.size], [[], 0]);
  await world.look();
  assert.equal(world.updates().length, 2, 'given back once');
});

test('[M9] a node that its operator had drained stays so, with the same reason', async () => {
  const world = new World();
  world.drain('bad disk');
  await world.want(WISH);
  assert.equal(world.stops.all[0]?.state, 'stopped');
  await world.want();
  assert.deepEqual(world.node(), { isDrained: true, reason: 'bad disk' });
  assert.deepEqual(world.updates(), []);
});

test('[M9] what an operator drains or opens meanwhile is as they left it', async () => {
  const world = new World();
  await world.want(WISH);
  world.drain('smoke');
  await world.want();
  assert.deepEqual(world.node(), { isDrained: true, reason: 'smoke' });
  assert.equal(world.notes.files.size, 0);

  const other = new World();
  other.drain('bad disk');
  await other.want(WISH);
  Object.assign(other.site.nodes[0] ?? {}, { state_flags: [], reason: '' });
  await other.look();
  assert.equal(other.node().isDrained, true, 'the maintenance goes on');
  await other.want();
  assert.deepEqual(other.node(), { isDrained: false, reason: '' });
});

test('[M9] what others open of a node is not closed when giving it back takes two tries', async () => {
  const parts = new Map([
    ['a@n1', true],
    ['b@n1', false],
  ]);
  const { command, read } = slurm(null).nodes;
  const readParts: typeof read = (output) => {
    const nodes = read(output);
    const listed = [...parts].map(([name, isOpen]) => ({ name, isOpen }));
    return nodes.ok ? ok(nodes.value.map((node) => ({ ...node, parts: listed }))) : nodes;
  };
  let isStuck = false;
  const world = new World({
    nodes: { command, read: readParts },
    setNode: ({ kind, parts: changed = [] }) => {
      if (isStuck) return [{ argv: ['scontrol', 'stuck'] }];
      for (const part of changed) parts.set(part, kind === 'restore');
      return [];
    },
  });
  await world.want(WISH);
  assert.deepEqual([...parts.values()], [false, false]);
  parts.set('b@n1', true);
  isStuck = true;
  await world.want();
  assert.equal(world.stops.all[0]?.state, 'returning');
  isStuck = false;
  await world.look();
  assert.deepEqual([...parts.values()], [true, true]);
  assert.deepEqual(world.stops.all, []);
});

test('[M9] a site that says no has the node as it was', async () => {
  const world = new World();
  world.site.moods.set('scontrol', ['refuses']);
  await world.want(WISH);
  const [stop] = world.stops.all;
  assert.equal(stop?.state, 'refused');
  assert.match(stop?.why ?? '', /Invalid qos/);
  assert.deepEqual([world.node().isDrained, world.notes.files.size], [false, 0]);
  await world.look();
  assert.equal(world.updates().length, 1, 'it is not asked again');
  await world.want();
  assert.deepEqual(world.stops.all, []);
});

test('[M9] a site that does not answer is asked again, for the stop and for the return', async () => {
  const world = new World();
  world.site.moods.set('scontrol', ['hangs']);
  await world.want(WISH);
  assert.equal(world.stops.all.length, 0);
  await world.look();
  assert.equal(world.stops.all[0]?.state, 'stopped');
  world.site.moods.set('scontrol', ['hangs']);
  await world.want();
  assert.equal(world.stops.all[0]?.state, 'returning');
  assert.notEqual(world.stops.all[0]?.why, null);
  await world.clock.advance(HELD_MS);
  await world.look();
  assert.deepEqual([world.node().isDrained, world.stops.all], [false, []]);
});

test('[M9] what is called off before its site was told is not stopped', async () => {
  const world = new World();
  world.stops.want([WISH]);
  world.stops.want([]);
  assert.deepEqual(world.stops.all, []);
  await world.clock.settle();
  assert.deepEqual([world.updates(), world.stops.all, world.notes.files.size], [[], [], 0]);
});

test('[M9] what is called off while its site is being told is to be given back', async () => {
  const world = new World();
  world.site.moods.set('scontrol', ['hangs']);
  await world.want(WISH);
  assert.deepEqual(world.stops.all, [], 'nobody may take it for stopped');
  const next = world.startAgain();
  assert.deepEqual(next.all, [], 'its head may still want it');
  world.site.moods.set('sinfo', ['hangs']);
  await world.want();
  assert.deepEqual(next.all, [{ node: 'n1', maintenance: 'm3', state: 'returning', why: null }]);
  await world.clock.advance(HELD_MS);
  await world.look();
  assert.deepEqual([next.all, world.node().isDrained], [[], false]);
});

/** Like Grid Engine and OAR: their nodes do not show who has stopped them. */
function withoutReasons(): Partial<Adaptor> {
  const { command, read } = slurm(null).nodes;
  const readAll: typeof read = (output) => {
    const nodes = read(output);
    return nodes.ok ? ok(nodes.value.map((node) => ({ ...node, reason: null }))) : nodes;
  };
  return { nodes: { command, read: readAll } };
}

test('[M9] a site that takes a moment to show a stop has not refused it', async () => {
  const world = new World();
  world.site.moods.set('scontrol', ['late']);
  await world.want(WISH);
  assert.equal(world.stops.all.length, 0);
  world.site.doLate();
  await world.look();
  assert.equal(world.stops.all[0]?.state, 'stopped');

  const other = new World();
  other.site.moods.set('scontrol', ['late', 'late', 'late']);
  await other.want(WISH);
  await other.clock.advance(LATE_MS);
  await other.look();
  const [stop] = other.stops.all.filter(({ state }) => state === 'refused');
  assert.equal(stop?.why, 'its site took the command, and the node still takes jobs');
});

test('[M9] a late stop is known for ours where its site does not say whose it is', async () => {
  for (const mood of ['late', 'hangs late'] as const) {
    const world = new World(withoutReasons());
    world.site.moods.set('scontrol', [mood]);
    await world.want(WISH);
    await world.want();
    assert.deepEqual(
      world.stops.all.map(({ state }) => state),
      ['returning'],
    );
    assert.equal(world.updates().length, 2, 'it is opened behind the stop');
    world.startAgain();
    await world.want();
    world.site.doLate();
    assert.equal(world.node().isDrained, true);
    await world.look();
    assert.equal(world.node().isDrained, false, mood);
    await world.clock.advance(HELD_MS);
    await world.look();
    assert.deepEqual([world.stops.all, world.notes.files.size], [[], 0]);
    // An operator's, from now on.
    world.drain('');
    await world.listed();
    assert.equal(world.node().isDrained, true);
  }
});

test('[M9] it is opened for its program and stopped again once that runs', async () => {
  for (const before of [null, 'bad disk']) {
    const world = new World();
    if (before !== null) world.drain(before);
    await world.want(WISH);
    const seen: boolean[] = [];
    let looks = 0;
    const opened = world.stops.openFor(
      'n1',
      () => {
        seen.push(world.node().isDrained);
        return Promise.resolve(ok(null));
      },
      () => Promise.resolve(++looks > 2),
    );
    await world.clock.advance(2000);
    assert.ok((await opened).ok);
    assert.deepEqual(seen, [false]);
    assert.deepEqual(world.node(), { isDrained: true, reason: before ?? OURS });
    await world.want();
    assert.deepEqual(world.node(), { isDrained: before !== null, reason: before ?? '' });
  }
});

test('[M9] what an operator drains or opens before its program begins is as they left it', async () => {
  const cases = [
    { before: 'bad disk', now: { state_flags: [], reason: '' }, after: '' },
    { before: null, now: { state_flags: ['DRAIN'], reason: 'smoke' }, after: 'smoke' },
    { before: 'bad disk', now: { state_flags: ['DRAIN'], reason: 'smoke' }, after: 'smoke' },
  ];
  for (const { before, now, after } of cases) {
    const world = new World();
    if (before !== null) world.drain(before);
    await world.want(WISH);
    Object.assign(world.site.nodes[0] ?? {}, now);
    let isBegun = false;
    const opened = world.stops.openFor(
      'n1',
      () => {
        isBegun = !world.node().isDrained;
        return Promise.resolve(ok(null));
      },
      () => Promise.resolve(isBegun),
    );
    await world.clock.settle();
    assert.ok((await opened).ok);
    assert.equal(world.node().isDrained, true, 'the maintenance goes on');
    await world.want();
    assert.deepEqual(world.node(), { isDrained: after !== '', reason: after });
  }
});

test('[M9] the head hears of a stop for as long as it lasts, also while it is made anew', async () => {
  const world = new World();
  await world.want(WISH);
  let isBegun = false;
  const opened = world.stops.openFor(
    'n1',
    () => {
      isBegun = true;
      world.site.moods.set('scontrol', ['hangs']);
      return Promise.resolve(ok(null));
    },
    () => Promise.resolve(isBegun),
  );
  await world.clock.settle();
  assert.ok((await opened).ok);
  assert.equal(world.node().isDrained, false);
  const kept = [{ node: 'n1', maintenance: 'm3', state: 'stopped', why: null }];
  assert.deepEqual(world.stops.all, kept);
  assert.deepEqual(world.startAgain().all, kept);
  await world.want(WISH);
  assert.equal(world.node().isDrained, true);
});

test('[M9] a node that its operator opens while a late stop is awaited stays open', async () => {
  const world = new World();
  world.drain('bad disk');
  await world.want(WISH);
  let isBegun = false;
  const opened = world.stops.openFor(
    'n1',
    () => {
      isBegun = true;
      world.site.moods.set('scontrol', ['lost']);
      return Promise.resolve(ok(null));
    },
    () => Promise.resolve(isBegun),
  );
  await world.clock.settle();
  assert.ok((await opened).ok);
  await world.want();
  assert.deepEqual(world.node(), { isDrained: true, reason: 'bad disk' });
  assert.equal(world.stops.all[0]?.state, 'returning');
  Object.assign(world.site.nodes[0] ?? {}, { state_flags: [], reason: '' });
  await world.look();
  await world.clock.advance(HELD_MS);
  await world.look();
  assert.deepEqual(world.node(), { isDrained: false, reason: '' });
  assert.deepEqual([world.stops.all, world.notes.files.size], [[], 0]);
});

test('[M9] what has begun already needs no open node', async () => {
  const world = new World();
  await world.want(WISH);
  const opened = world.stops.openFor(
    'n1',
    () => assert.fail('it was started'),
    () => Promise.resolve(true),
  );
  await world.clock.settle();
  assert.ok((await opened).ok);
  assert.equal(world.updates().length, 1);
});

test('[M9] a program that does not begin leaves the node stopped', async () => {
  const world = new World();
  await world.want(WISH);
  const opened = world.stops.openFor(
    'n1',
    () => Promise.resolve(ok(null)),
    () => Promise.resolve(false),
  );
  await world.clock.advance(60_000);
  assert.equal((await opened).ok, false);
  assert.equal(world.node().isDrained, true);
});

test('[M9] a node that was opened for a program is closed again, also by a second try', async () => {
  const world = new World();
  world.drain('bad disk');
  await world.want(WISH);
  const opened = world.stops.openFor(
    'n1',
    () => {
      world.stops.want([]);
      world.site.moods.set('scontrol', ['hangs']);
      return Promise.resolve(ok(null));
    },
    () => Promise.resolve(!world.node().isDrained),
  );
  await world.clock.settle();
  assert.ok((await opened).ok);
  assert.deepEqual(
    world.stops.all.map(({ state, why }) => [state, why === null]),
    [['returning', false]],
  );
  await world.look();
  assert.deepEqual(world.node(), { isDrained: true, reason: 'bad disk' });
  assert.deepEqual([world.stops.all, world.notes.files.size], [[], 0]);
});

test('[M9] a node that its operator opens after a lost answer to its closing stays open', async () => {
  for (const isOver of [true, false]) {
    const world = new World();
    world.drain('bad disk');
    await world.want(WISH);
    const opened = world.stops.openFor(
      'n1',
      () => {
        if (isOver) world.stops.want([]);
        world.site.moods.set('scontrol', ['lost']);
        return Promise.resolve(ok(null));
      },
      () => Promise.resolve(!world.node().isDrained),
    );
    await world.clock.settle();
    assert.ok((await opened).ok);
    assert.deepEqual(world.node(), { isDrained: true, reason: 'bad disk' });
    Object.assign(world.site.nodes[0] ?? {}, { state_flags: [], reason: '' });
    await world.look();
    if (!isOver) await world.want();
    await world.clock.advance(HELD_MS);
    await world.look();
    assert.deepEqual(world.node(), { isDrained: false, reason: '' }, `over: ${isOver}`);
    assert.deepEqual([world.stops.all, world.notes.files.size], [[], 0]);
  }
});

test('[M9] a gateway killed at any command gives the node back as it was', async () => {
  for (const before of [null, 'bad disk']) {
    for (const when of ['before', 'after'] as const) {
      for (let command = 0; command < 14; command += 1) {
        const world = new World();
        let looks = 0;
        if (before !== null) world.drain(before);
        world.dieAt(command, when);
        await world.want(WISH);
        void world.stops.openFor(
          'n1',
          () => Promise.resolve(ok(null)),
          () => Promise.resolve(++looks > 1),
        );
        await world.clock.advance(2000);
        await world.want();
        const where = `${before} ${when} command ${command}`;

        world.startAgain();
        await world.want(WISH);
        assert.equal(world.stops.all[0]?.state, 'stopped', where);
        assert.equal(world.node().isDrained, true, where);
        await world.clock.advance(HELD_MS);
        await world.want();
        assert.deepEqual(world.node(), { isDrained: before !== null, reason: before ?? '' }, where);
        assert.equal(world.notes.files.size, 0, where);
        const changes = world.updates().length;
        world.startAgain();
        await world.want();
        assert.equal(world.updates().length, changes, `${where}: once`);
      }
    }
  }
});

test('[M9] a gateway whose head is gone for good gives the node back by itself', async () => {
  const world = new World();
  await world.want(WISH);
  world.stops.headIsAway();
  await world.clock.advance(LONG + LAPSE_MS - 1);
  await world.look();
  assert.equal(world.node().isDrained, true);
  await world.clock.advance(1);
  await world.look();
  assert.equal(world.node().isDrained, false);

  const other = new World();
  await other.want(WISH);
  other.startAgain();
  await other.look();
  assert.equal(other.node().isDrained, true, 'no head has said that it is over');
  await other.clock.advance(LONG + LAPSE_MS);
  await other.look();
  assert.equal(other.node().isDrained, false);
});

test('[M9] a node that is switched off is neither refused nor opened, and given back later', async () => {
  const world = new World();
  let [state, isStopped] = ['idle', false];
  const ran: string[] = [];
  const stops = new NodeStops({
    adaptor: script(['/opt/site'], { steers: true }),
    clock: world.clock,
    log: world.log,
    notes: world.notes,
    settings: { timeoutMs: 1000, before: [] },
    commands: {
      run({ argv, environment }) {
        const change = environment?.['SITE_CHANGE'];
        if (change !== undefined) ran.push(change);
        if (change !== undefined) isStopped = change === 'stop';
        const nodes = [
          { name: 'n1', state: isStopped && state === 'idle' ? 'stopped' : state, cpuCount: 2 },
        ];
        const answer = { contract: 1, ...(argv.at(-1) === 'nodes' ? { nodes } : {}) };
        return Promise.resolve({
          code: 0,
          output: JSON.stringify(answer),
          errors: '',
          how: '',
          succeeded: true,
          isThere: () => false,
        });
      },
    },
  });
  const want = async (...wishes: StopRequest[]): Promise<void> => {
    stops.want(wishes);
    await world.clock.settle();
  };
  await want(WISH);
  state = 'down';
  await want(WISH);
  assert.deepEqual(stops.all, [{ node: 'n1', maintenance: 'm3', state: 'stopped', why: null }]);
  await want();
  assert.deepEqual([ran, world.notes.files.size], [['stop'], 1], 'nobody knows what is open');
  state = 'idle';
  await want();
  assert.deepEqual([ran, isStopped, stops.all], [['stop', 'restore'], false, []]);
});

test('[M9] a node goes from one maintenance to the next without being opened', async () => {
  const world = new World();
  await world.want(WISH);
  await world.want({ ...WISH, maintenance: 'm4' });
  assert.equal(world.stops.all[0]?.maintenance, 'm4');
  await world.want();
  assert.deepEqual(world.node(), { isDrained: false, reason: '' });
  assert.equal(world.updates().length, 2);
});

test('[M9] a node that has left its site is given up once the site refuses to give it back', async () => {
  const world = new World();
  await world.want(WISH);
  const node = world.site.nodes.splice(0, 1);
  world.site.moods.set('scontrol', ['hangs', 'refuses']);
  await world.want();
  assert.equal(world.stops.all[0]?.state, 'returning', 'its site has not answered');
  await world.look();
  assert.deepEqual([world.stops.all, world.notes.files.size], [[], 0]);
  const told = world.log.lines.map(({ message }) => message);
  assert.ok(told.includes('a node that has left its site is given up'), told.join());
  await world.look();
  assert.equal(world.updates().length, 3, 'nothing is run with each look');

  world.site.nodes.push(...node);
  await world.listed();
  assert.deepEqual(world.node(), { isDrained: false, reason: '' }, 'it is back as it was');
});

test('[M9] what goes wrong is said in the name of the program that was run', async () => {
  const world = new World({ setNode: () => [{ argv: ['set-node', 'n1'] }] });
  world.site.moods.set('set-node', ['refuses']);
  await world.want(WISH);
  assert.match(world.stops.all[0]?.why ?? '', /^set-node: /);
});

test('[M9] a stop that takes effect after its node was given back is undone', async () => {
  const world = new World();
  world.site.moods.set('scontrol', ['hangs']);
  await world.want(WISH);
  await world.want();
  await world.clock.advance(HELD_MS);
  await world.look();
  assert.equal(world.notes.files.size, 0);
  world.drain(OURS);
  world.stops.headIsAway();
  await world.listed();
  assert.equal(world.node().isDrained, true, 'nobody says that it is not wanted');
  await world.want();
  await world.listed();
  assert.deepEqual(world.node(), { isDrained: false, reason: '' });
  assert.equal(world.notes.files.size, 0);
});

test('[M9] late stops do not outlive the next maintenance, and words of others are theirs', async () => {
  const world = new World();
  world.drain(OURS);
  await world.want({ ...WISH, maintenance: 'm4' });
  await world.listed();
  assert.equal(world.node().isDrained, true);
  await world.want();
  await world.listed();
  assert.equal(world.node().isDrained, false);
  for (const reason of ['smoke', `after ${OURS}: bad disk`, `${OURS} broke it`]) {
    world.drain(reason);
    await world.want();
    await world.listed();
    assert.deepEqual(world.node(), { isDrained: true, reason });
  }
});
