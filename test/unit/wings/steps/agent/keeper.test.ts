// The steps of one node: what its agent starts, tells and forgets, with pipes and lines of a test.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentInside, Beside } from '../../../../../src/kernel/agent/part.ts';
import { ok } from '../../../../../src/kernel/base/result.ts';
import type { EpochId } from '../../../../../src/kernel/model/ids.ts';
import type { ProcessEvent } from '../../../../../src/kernel/model/processes.ts';
import type { Epoch } from '../../../../../src/kernel/runner/epoch.ts';
import { StepKeeper } from '../../../../../src/wings/steps/agent/keeper.ts';
import { type BindWish, CpuClaims } from '../../../../../src/wings/steps/core/binding.ts';
import {
  CLOSED_MAX,
  HANG_UP_MS,
  LINGER_MS,
  PROCESSES_MAX,
  WATCHERS_MAX,
  WINDOW_BYTES,
} from '../../../../../src/wings/steps/core/limits.ts';
import type { News, StartWish, StepEnd } from '../../../../../src/wings/steps/core/told.ts';
import type { StepPipes, StepPorts } from '../../../../../src/wings/steps/ports/steps.ts';
import { Channel } from '../../../../../src/wings/steps/wire/channel.ts';
import { FROM_STEP, frame, TO_STEP } from '../../../../../src/wings/steps/wire/frames.ts';
import { VirtualClock } from '../../../kernel/agent/fake-world.ts';

const EPOCH = '42#1' as EpochId;

/** `made`: pipes are there no sooner. */
function makeWorld(
  helper: readonly string[] | null = ['helper', '--step'],
  {
    made: isMade = Promise.resolve(),
    dial = () => Promise.reject(new Error('nobody answers')),
    numas = [0, 0, 0],
    gpus = [],
  }: {
    readonly made?: Promise<void>;
    readonly dial?: StepPorts['dial'];
    /** The part of memory of each cpu. */
    readonly numas?: readonly number[];
    /** Those of the task. */
    readonly gpus?: readonly number[];
  } = {},
) {
  const clock = new VirtualClock();
  const share = { resources: { cpuCount: 2 }, gpus };
  const epochs = new Map([[EPOCH, { phase: 'running', order: { epochId: EPOCH, share } }]]);
  const environments: (readonly string[])[] = [];
  const told: News[] = [];
  const started = new Map<number, (event: ProcessEvent) => void>();
  const killed: number[] = [];
  const signals: number[] = [];
  const pipes: { said: string[]; bytes: (bytes: Buffer) => void; isClosed: boolean }[] = [];
  const beside: Beside = {
    joining: async () => {
      const request = { argv: [], environment: [], cwd: '/' } as never;
      return ok({ request, mark: 'i:1', owner: null });
    },
    start: (request, heard) => {
      environments.push(request.environment);
      return started.set(started.size + 1, heard).size;
    },
    signal: (launchId, signal) => {
      killed.push(launchId);
      signals.push(signal);
    },
  };
  const agent = {
    ports: { clock },
    state: { epochs },
    beside,
    // The first is near one part of memory, the second near the other.
    gpus: () => ({ cards: [0, 1].map((number) => ({ number, numaNode: number })) }),
    say: (_wing: string, body: object) => told.push(body as News) > 0,
  } as unknown as AgentInside;
  const cpus = new CpuClaims(numas.map((numa, id) => ({ id, core: id, numa })));
  const ports: StepPorts = {
    node: 'n1',
    cpus,
    helper,
    makePipes: async () => {
      await isMade;
      const own = {
        said: [] as string[],
        bytes: (_: Buffer): void => undefined,
        isClosed: false,
      };
      pipes.push(own);
      const made: StepPipes = {
        inPath: 'in',
        outPath: 'out',
        write: async (bytes) => void own.said.push(bytes.toString('hex')),
        onBytes: (heard) => {
          own.bytes = heard;
        },
        pause: () => undefined,
        resume: () => undefined,
        finish: (ended) => ended(),
        close: () => {
          own.isClosed = true;
        },
      };
      return made;
    },
    dial,
  };
  const keeper = new StepKeeper(agent, ports);
  keeper.greeted(true);
  const ends = (): (StepEnd | null)[] =>
    told.flatMap(({ processes }) => processes.map(({ end }) => end));
  return { clock, cpus, environments, epochs, keeper, told, started, killed, signals, pipes, ends };
}

function wish(number: number): StartWish {
  return {
    do: 'start',
    step: `42.${number}`,
    rank: 0,
    count: 1,
    epochId: EPOCH,
    argv: ['true'],
    environment: {},
    directory: null,
    terminal: null,
    command: 'true',
    by: 'ann',
  };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

test('a step that is asked for twice is started once, and its end is told', async () => {
  const { keeper, started, pipes, ends, told } = makeWorld();
  keeper.heard('steps', { ...wish(0), cpuCount: 2 });
  keeper.heard('steps', { ...wish(0), cpuCount: 2 });
  keeper.heard('other', wish(1));
  await settled();
  assert.equal(started.size, 1);
  const end = Buffer.alloc(28);
  end.writeUInt32LE(3 << 8);
  pipes[0]?.bytes(frame(FROM_STEP.ended, end));
  const used = { userUs: 0, systemUs: 0, memoryPeakBytes: 0 };
  assert.deepEqual(ends(), [{ exit: { code: 3 }, used }]);
  assert.equal(told.at(-1)?.processes[0]?.cpuCount, 2);
  keeper.stop();
});

/** The client of a step, at the other end of its line. */
function makeClient() {
  let toNode = (_: Buffer): void => undefined;
  const waiting: Buffer[] = [];
  let hear = (bytes: Buffer): void => void waiting.push(bytes);
  const told: Buffer[] = [];
  const channel: Channel = new Channel({
    bytes: (bytes) => {
      told.push(bytes);
      channel.take(bytes.length);
    },
    drained: () => undefined,
    joined: () => undefined,
    bye: () => undefined,
  });
  const dial: StepPorts['dial'] = async () => ({
    send: (bytes) => hear(bytes),
    onBytes: (heard) => {
      toNode = heard;
    },
    onClose: () => undefined,
    close: () => undefined,
  });
  const join = (): void => {
    channel.open((bytes) => toNode(bytes));
    hear = (bytes) => void channel.feed(bytes);
    for (const bytes of waiting) hear(bytes);
  };
  return { channel, told, dial, join };
}

test('[Z4] input and its end that come before the pipes of a step are there are not lost', async () => {
  const client = makeClient();
  const gate = Promise.withResolvers<void>();
  const { keeper, pipes } = makeWorld(undefined, { made: gate.promise, dial: client.dial });
  keeper.heard('steps', wish(0));
  await settled();
  const [input, end] = [frame(TO_STEP.input, Buffer.from('early')), frame(TO_STEP.end)];
  client.channel.write(input);
  client.join();
  client.channel.write(end);
  await settled();
  assert.equal(pipes.length, 0);
  gate.resolve();
  await settled();
  assert.deepEqual(pipes[0]?.said, [input.toString('hex'), end.toString('hex')]);
  keeper.stop();
});

test('[Z10] a step that is ended or signalled before its pipes are there hears of it, though its client has come', async () => {
  const client = makeClient();
  const gate = Promise.withResolvers<void>();
  const { keeper, pipes } = makeWorld(undefined, { made: gate.promise, dial: client.dial });
  keeper.heard('steps', wish(0));
  await settled();
  keeper.heard('steps', { do: 'signal', step: '42.0', signal: 10 });
  keeper.heard('steps', { do: 'stop', step: '42.0' });
  client.join();
  gate.resolve();
  await settled();
  assert.deepEqual(pipes[0]?.said, ['04010000000a', '040100000001']);
  keeper.stop();
});

test('[Z4] early input of a step that cannot be started holds nobody up', async () => {
  const client = makeClient();
  const gate = Promise.withResolvers<void>();
  const { keeper } = makeWorld(undefined, { made: gate.promise, dial: client.dial });
  keeper.heard('steps', wish(0));
  await settled();
  client.join();
  client.channel.write(Buffer.alloc(WINDOW_BYTES));
  assert.equal(client.channel.waitingBytes, WINDOW_BYTES);
  gate.reject(new Error('no room'));
  await settled();
  assert.equal(client.channel.waitingBytes, 0);
  assert.match(Buffer.concat(client.told).toString(), /pipes cannot be made: no room/);
  keeper.stop();
});

test('[Z16] whoever looks is answered, also one too many, and one who comes when all is over', async () => {
  const clients = new Map<string, ReturnType<typeof makeClient>>();
  const dial: StepPorts['dial'] = (to) => {
    const client = makeClient();
    clients.set(to.watch ?? 'own', client);
    return client.dial(to);
  };
  const { keeper, pipes, clock } = makeWorld(undefined, { dial });
  keeper.heard('steps', wish(0));
  await settled();
  const look = async (watch: string): Promise<string> => {
    keeper.heard('steps', { do: 'watch', step: '42.0', rank: 0, watch });
    await settled();
    clients.get(watch)?.join();
    return Buffer.concat(clients.get(watch)?.told ?? []).toString();
  };
  for (let at = 1; at <= WATCHERS_MAX; at += 1) assert.equal(await look(`watcher-${at}`), '');
  assert.match(await look('watcher-beyond'), /8 look at it already/);
  pipes[0]?.bytes(frame(FROM_STEP.failed, Buffer.alloc(4)));
  await clock.advance(2 * LINGER_MS);
  const late = frame(FROM_STEP.failed, Buffer.alloc(4)).toString();
  assert.equal(await look('watcher-late'), late);
  keeper.stop();
});

test('[Z3] steps are killed with their task, and told to have ended with it', async () => {
  const { keeper, started, killed, ends } = makeWorld();
  keeper.heard('steps', wish(0));
  await settled();
  keeper.ended({ order: { epochId: EPOCH } } as Epoch);
  assert.deepEqual(killed, [1]);
  const gone = { kind: 'exited', launchId: 1, exit: { signal: 9 } } as unknown as ProcessEvent;
  started.get(1)?.(gone);
  assert.deepEqual(ends(), [{ why: 'its task has ended' }]);
  keeper.stop();
});

test('what cannot be started is told with the reason', async () => {
  const without = makeWorld(null);
  without.keeper.heard('steps', wish(0));
  const { keeper, epochs, ends } = makeWorld();
  epochs.clear();
  keeper.heard('steps', wish(0));
  await settled();
  assert.match(JSON.stringify(without.ends()), /no launcher that could start steps/);
  assert.match(JSON.stringify(ends()), /does not run on this node/);
  keeper.stop();
  without.keeper.stop();
});

test('[Z5] a node starts no more processes of steps of a task than it may', async () => {
  const { keeper, started, ends } = makeWorld();
  for (let at = 0; at <= PROCESSES_MAX; at += 1) keeper.heard('steps', wish(at));
  await settled();
  assert.equal(started.size, PROCESSES_MAX);
  assert.match(JSON.stringify(ends()), /has 256 processes of steps/);
  keeper.stop();
});

test('[Z7] a step without a line for a minute is hung up', async () => {
  const { keeper, pipes, clock } = makeWorld();
  keeper.heard('steps', wish(0));
  await settled();
  await clock.advance(LINGER_MS - 1);
  assert.deepEqual(pipes[0]?.said, []);
  await clock.advance(1);
  assert.deepEqual(pipes[0]?.said, ['040100000001']);
  keeper.stop();
});

test('[Z7] a step goes on without a line for as long as it was told to', async () => {
  const { keeper, pipes, clock } = makeWorld();
  keeper.heard('steps', { ...wish(0), lingerMs: 3 * LINGER_MS });
  await settled();
  await clock.advance(3 * LINGER_MS - 1);
  assert.deepEqual(pipes[0]?.said, []);
  await clock.advance(1);
  assert.deepEqual(pipes[0]?.said, ['040100000001']);
  keeper.stop();
});

test('of steps that are over and read a node tells the newest, and of a task that is gone none', async () => {
  const { keeper, epochs, told, clock } = makeWorld(null);
  const all = CLOSED_MAX + 3;
  for (let at = 0; at < all; at += 1) {
    keeper.heard('steps', wish(at));
    await settled();
  }
  await clock.advance(LINGER_MS);
  told.length = 0;
  keeper.greeted(true);
  assert.equal(told[0]?.processes.length, CLOSED_MAX);
  assert.equal(told[0]?.processes[0]?.step, '42.3');
  epochs.clear();
  keeper.greeted(true);
  assert.deepEqual(told[1], { isAll: true, part: 0, hasMore: false, processes: [] });
  keeper.stop();
});

test('[Z7] a helper that does not heed the hang-up is told by signal, and then killed', async () => {
  const { keeper, clock, signals, started, ends } = makeWorld();
  keeper.heard('steps', wish(0));
  keeper.heard('steps', wish(1));
  await settled();
  keeper.heard('steps', { do: 'stop', step: '42.0' });
  await clock.advance(HANG_UP_MS);
  assert.deepEqual(signals, [15]);
  await clock.advance(HANG_UP_MS);
  assert.deepEqual(signals, [15, 9]);
  const gone = { kind: 'exited', launchId: 1, exit: { signal: 9 } } as unknown as ProcessEvent;
  started.get(1)?.(gone);
  assert.deepEqual(ends(), [{ why: 'it was killed with its helper' }]);
  keeper.stop();
});

test('what a step has written is kept after its task, until it is read or nobody comes for it', async () => {
  const { keeper, clock, epochs, pipes, told } = makeWorld();
  keeper.heard('steps', wish(0));
  await settled();
  pipes[0]?.bytes(frame(FROM_STEP.output, Buffer.from('left')));
  pipes[0]?.bytes(frame(FROM_STEP.ended, Buffer.alloc(28)));
  epochs.clear();
  keeper.greeted(true);
  assert.equal(told.at(-1)?.processes.length, 1);
  await clock.advance(LINGER_MS);
  keeper.greeted(true);
  assert.equal(told.at(-1)?.processes.length, 0);
  keeper.stop();
});

test('[Z10] a signal goes to the program, and a kill that is not heeded to its helper', async () => {
  const { keeper, clock, signals, pipes } = makeWorld();
  keeper.heard('steps', wish(0));
  keeper.heard('steps', wish(1));
  await settled();
  keeper.heard('steps', { do: 'signal', step: '42.0', signal: 10 });
  keeper.heard('steps', { do: 'signal', step: '42.0', signal: 99 });
  keeper.heard('steps', { do: 'signal', step: '42.0', signal: 9 });
  assert.deepEqual(pipes[0]?.said, ['04010000000a', '040100000009']);
  assert.deepEqual(pipes[1]?.said, []);
  await clock.advance(HANG_UP_MS);
  assert.deepEqual(signals, [9]);
  keeper.stop();
});

test('[Z12] a task that ends while a step is prepared keeps no cpus', async () => {
  const { keeper, cpus, epochs, ends, started } = makeWorld();
  keeper.heard('steps', { ...wish(0), bind: { to: 'core', local: 0, of: 1 } });
  keeper.ended(epochs.get(EPOCH) as unknown as Epoch);
  epochs.clear();
  await settled();
  assert.deepEqual([started.size, ends().at(-1)], [0, { why: 'its task has ended' }]);
  assert.equal(cpus.claim('n2 43#1', 3).ok, true);
  keeper.stop();
});

test('[Z12] a bound step finds its cpus, which are given back with its task', async () => {
  const { keeper, cpus, environments, told, epochs, ends } = makeWorld();
  const bind: BindWish = { to: 'core', local: 1, of: 2 };
  keeper.heard('steps', { ...wish(0), bind });
  keeper.heard('steps', wish(1));
  await settled();
  const found = environments.map((one) => one.find((entry) => entry.startsWith('WEFT_CPUSET=')));
  assert.deepEqual(found, ['WEFT_CPUSET=1', undefined]);
  assert.equal(told.at(-1)?.processes[0]?.cpus, '1');
  assert.equal(cpus.claim('n2 43#1', 2).ok, false);
  keeper.ended(epochs.get(EPOCH) as unknown as Epoch);
  assert.equal(cpus.claim('n2 43#1', 2).ok, true);
  keeper.heard('steps', { ...wish(2), bind });
  await settled();
  const why =
    'it cannot be bound: its task has 2 cpus, and its machine has 3 cpus, 2 of them bound already, by other tasks or on other nodes that run there; start it without --bind';
  assert.deepEqual(ends().at(-1), { why });
  keeper.stop();
});

test('[Z12] a bound step has cpus near the gpus of its task', async () => {
  const numas = [0, 0, 1, 1];
  for (const [gpus, own] of [
    [[], '0'],
    [[0], '0'],
    [[1], '2'],
  ] as const) {
    const { keeper, environments } = makeWorld(['helper'], { numas, gpus });
    keeper.heard('steps', { ...wish(0), bind: { to: 'core', local: 0, of: 2 } });
    await settled();
    assert.ok(environments[0]?.includes(`WEFT_CPUSET=${own}`), own);
    keeper.stop();
  }
});

test('[Z12] a node says the cpus of processes before they start, or why there are none', () => {
  const { keeper, told, epochs } = makeWorld();
  const ask = (more: object) => {
    const before = told.length;
    keeper.heard('steps', { do: 'claim', claim: 5, epochId: EPOCH, to: 'core', of: 2, ...more });
    return told.slice(before) as unknown[];
  };
  assert.deepEqual(ask({}), [{ claimed: 5, cpus: ['0', '1'] }]);
  assert.deepEqual(ask({ to: 'numa' }), [{ claimed: 5, cpus: ['0-1', '0-1'] }]);
  const [few] = ask({ of: 3 }) as { why: string }[];
  assert.match(few?.why ?? '', /3 processes cannot be bound to a cpu each/);
  assert.deepEqual(ask({ to: 'socket' }), []);
  epochs.clear();
  assert.deepEqual(ask({}), [{ claimed: 5, why: 'its task does not run' }]);
  keeper.stop();
});
