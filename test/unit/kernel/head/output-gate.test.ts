// Whose output is taken: that of epochs which run or ran on the node that sends it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Agents } from '../../../../src/kernel/head/agents.ts';
import type { Kept, LogSink } from '../../../../src/kernel/head/log-sink.ts';
import { OutputGate } from '../../../../src/kernel/head/output-gate.ts';
import type { EpochId, NodeName } from '../../../../src/kernel/model/ids.ts';
import { encode } from '../../../../src/kernel/wire/codec.ts';
import type { LogName } from '../../../../src/kernel/wire/messages.ts';
import { endReport } from '../../../support/controller.ts';
import { EngineBench, settlePromises } from '../../../support/engine.ts';

const N1 = 'n1' as NodeName;
const N2 = 'n2' as NodeName;
const KEPT = { offset: 99, end: true };
/** What the agent hears so that it lets go of a piece that nobody wants. */
const LEFT_OUT = { offset: 13, end: true };

function pieceOf(epochId: string, bytes: Uint8Array = Buffer.from('abc'), nodeRank = 0) {
  const name: LogName = { epochId: epochId as EpochId, nodeRank, rank: 0, stream: 'stdout' };
  return { kind: 'log', name, offset: 10, bytes, end: true, dropped: 0 } as const;
}

/** A job runs on n1; n2 is idle. Pieces that are kept are acknowledged up to 99. */
async function bench(append: LogSink['append'] = () => Promise.resolve(KEPT)) {
  const made = await new EngineBench().start();
  await made.connect('n1');
  made.submit('a');
  await made.settle();
  await made.connect('n2');
  const warned: string[] = [];
  const log = { debug() {}, info() {}, warn: (_: object, words: string) => warned.push(words) };
  const ports = { logs: { append }, log: { ...log, error() {} } };
  return { made, warned, gate: () => new OutputGate(made.engine, ports) };
}

function end(made: EngineBench): void {
  const report = endReport('1#1', made.clock.now());
  const session = made.engine.state.nodes.get(N1)?.session ?? 0;
  made.perform('end', { kind: 'report', node: N1, session, report });
}

test('output of what runs on the node is kept, of what runs elsewhere it is not', async () => {
  const { warned, gate } = await bench();
  const outputs = gate();
  assert.deepEqual(await outputs.take(N1, pieceOf('1#1')), KEPT);
  assert.deepEqual(warned, []);
  for (const epochId of ['1#1', '7#1', 'nonsense']) {
    assert.deepEqual(await outputs.take(N2, pieceOf(epochId)), LEFT_OUT, epochId);
  }
  assert.deepEqual(await outputs.take(N1, pieceOf('1#2')), LEFT_OUT);
  assert.equal(warned.length, 4);
});

test('a node that says it holds what runs elsewhere does not get to write there', async () => {
  const { made, gate } = await bench();
  const place = { jobId: 1 as never, index: null };
  const share = [...(made.engine.state.nodes.get(N1)?.holding.values() ?? [])][0]?.share;
  assert.ok(share !== undefined);
  await made.connect('n2', { held: [{ epochId: '1#1' as EpochId, place, epoch: 1, share }] });
  assert.equal(made.engine.state.nodes.get(N2)?.holding.size, 1);
  assert.deepEqual(await gate().take(N2, pieceOf('1#1')), LEFT_OUT);
});

test('[W5] a node sends output of its own part only, not of a sibling in the same epoch', async () => {
  const made = await new EngineBench().start();
  for (const name of ['n1', 'n2']) await made.connect(name);
  made.submit('a', { nodeCount: 2 });
  await made.settle();
  const written: number[] = [];
  const logs = {
    append: async ({ nodeRank }: LogName) => {
      written.push(nodeRank);
      return KEPT;
    },
  };
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const forge = async (outputs: OutputGate): Promise<void> => {
    assert.deepEqual(await outputs.take(N2, pieceOf('1#1', undefined, 0)), LEFT_OUT);
    assert.deepEqual(await outputs.take(N1, pieceOf('1#1', undefined, 1)), LEFT_OUT);
    assert.deepEqual(await outputs.take(N2, pieceOf('1#1', undefined, 2)), LEFT_OUT);
    assert.deepEqual(await outputs.take(N2, pieceOf('1#1', undefined, 1)), KEPT);
  };
  const outputs = new OutputGate(made.engine, { logs, log });
  await forge(outputs);
  end(made);
  const report = endReport('1#1', made.clock.now());
  made.perform('end', { kind: 'report', node: N2, session: 1, report });
  await made.settle();
  await forge(outputs);
  await made.crash();
  await forge(new OutputGate(made.engine, { logs, log }));
  assert.deepEqual(written, [1, 1, 1]);
});

test('output that comes between the end of an epoch and its record is kept', async () => {
  const { made, warned, gate } = await bench();
  const outputs = gate();
  end(made);
  const first = outputs.take(N1, pieceOf('1#1'));
  await made.settle();
  assert.deepEqual(await first, KEPT);
  assert.deepEqual(await outputs.take(N1, pieceOf('1#1')), KEPT);
  assert.deepEqual(warned, []);
});

test('a restarted head knows from its store where an epoch ran', async () => {
  const { made, gate } = await bench();
  end(made);
  await made.settle();
  await made.crash();
  const outputs = gate();
  assert.deepEqual(await outputs.take(N2, pieceOf('1#1')), LEFT_OUT);
  assert.deepEqual(await outputs.take(N1, pieceOf('1#1')), KEPT);
});

test('a silent end completes both files, and no file of what ran elsewhere', async () => {
  const ends: unknown[] = [];
  const { made, gate } = await bench((name, piece) => {
    ends.push([name.stream, name.nodeRank, piece.offset, piece.bytes.length, piece.end]);
    return Promise.resolve(KEPT);
  });
  const outputs = gate();
  const report = { ...endReport('1#1', 0), silentNodeRank: 0 } as const;
  assert.ok(report.kind === 'task_ended');
  outputs.endSilently(N2, report);
  outputs.endSilently(N1, { ...report, epochId: '1#2' as EpochId });
  await made.settle();
  assert.deepEqual(ends, []);
  outputs.endSilently(N1, report);
  await made.settle();
  assert.deepEqual(ends, [
    ['stdout', 0, 0, 0, true],
    ['stderr', 0, 0, 0, true],
  ]);
});

test('a silent end is one word where the logs take it so, and only of what ran there', async () => {
  const { made } = await bench();
  const [ends, pieces]: [unknown[], string[]] = [[], []];
  const logs = {
    append: async ({ stream }: LogName) => {
      pieces.push(stream);
      return KEPT;
    },
    endSilently: (process: unknown) => {
      ends.push(process);
      return ends.length === 1;
    },
  };
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const outputs = new OutputGate(made.engine, { logs, log });
  const report = { ...endReport('1#1', 0), silentNodeRank: 0 } as const;
  assert.ok(report.kind === 'task_ended');
  outputs.endSilently(N2, report);
  await made.settle();
  assert.deepEqual([ends, pieces], [[], []]);
  const said = { epochId: '1#1', nodeRank: 0, rank: 0 };
  outputs.endSilently(N1, report);
  await made.settle();
  assert.deepEqual([ends, pieces], [[said], []]);
  // They do not take it: pieces say it.
  outputs.endSilently(N1, report);
  await made.settle();
  assert.deepEqual(
    [ends, pieces],
    [
      [said, said],
      ['stdout', 'stderr'],
    ],
  );
});

test('what waits of one node is bounded, and others are not held up by it', async () => {
  let write: (kept: Kept) => void = () => undefined;
  const { gate } = await bench(() => new Promise((resolve) => (write = resolve)));
  const outputs = gate();
  const large = pieceOf('1#1', Buffer.alloc(200 * 1_048_576));
  const first = outputs.take(N1, large);
  assert.equal(outputs.take(N1, large), null);
  assert.deepEqual(await outputs.take(N2, pieceOf('1#1')), LEFT_OUT);
  write(KEPT);
  assert.deepEqual(await first, KEPT);
  assert.notEqual(outputs.take(N1, large), null);
});

test('what waits of all nodes together is bounded; what is beyond is sent again', async () => {
  const made = await new EngineBench().start();
  const names = ['n1', 'n2', 'n3'] as NodeName[];
  for (const name of names) await made.connect(name);
  made.submit('a', { nodeCount: 3 });
  await made.settle();
  const writes: ((kept: Kept) => void)[] = [];
  const logs = { append: () => new Promise<Kept>((resolve) => writes.push(resolve)) };
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const outputs = new OutputGate(made.engine, { logs, log });
  const bytes = Buffer.alloc(200 * 1_048_576);
  const take = (rank: number) => outputs.take(names[rank] as NodeName, pieceOf('1#1', bytes, rank));
  const waiting = [take(0), take(1)];
  const refused = take(2)?.catch(({ message }: Error) => message);
  const waits = settlePromises().then(() => 'it waits');
  assert.match(String(await Promise.race([refused, waits])), /waits to be written/);
  for (const write of writes) write(KEPT);
  assert.deepEqual(await Promise.all(waiting), [KEPT, KEPT]);
  const again = take(2);
  writes.at(-1)?.(KEPT);
  assert.deepEqual(await again, KEPT);
});

test('output before the welcome closes the session', async () => {
  const { made } = await bench();
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const kept: string[] = [];
  const append = async ({ epochId }: LogName) => {
    kept.push(epochId);
    return KEPT;
  };
  const logs = { append };
  const limits = { heartbeatMs: 1000, lookMs: Number.POSITIVE_INFINITY, logBytesMax: 1000 };
  const options = { clock: made.clock, log, logs, ...limits };
  const agents = new Agents(options);
  agents.attach(made.engine);
  let receive: (message: Uint8Array) => void = () => undefined;
  let closed = '';
  agents.accept({
    peer: 'n1',
    send() {},
    onMessage: (handler) => {
      receive = handler;
    },
    onClose() {},
    close: (why) => {
      closed = why;
    },
  });

  receive(encode(pieceOf('1#1')));
  await settlePromises();
  assert.match(closed, /before the welcome/);
  assert.deepEqual(kept, []);
});
