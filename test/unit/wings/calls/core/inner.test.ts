// Calls within calls: a program that runs in a call of a pool has calls of its own run there.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CALL_DEPTH_MAX, CALL_SEAT_IDLE_MS } from '../../../../../src/kernel/model/limits.ts';
import { type Client, Rig, textOf, type Worker } from './rig.ts';

const NAME = 'n1:0#1';

/** The only worker runs a call of client `a`; `b` is a program in it. */
function waiting(depth = 0) {
  const rig = new Rig();
  const a = rig.client('a');
  const outer = a.submit(a.asset(), 'outer');
  const worker = rig.worker(NAME);
  rig.settle();
  worker.start();
  const b = rig.client('b', false, { worker: NAME, depth });
  return { rig, a, b, outer, worker };
}

test('[C17] the only worker of a pool runs the calls that its own call waits for', () => {
  const { rig, a, b, outer, worker } = waiting();
  const asset = b.asset('inner');
  const calls = [b.submit(asset, 'one'), b.submit(asset, 'two')];
  rig.settle();
  assert.deepEqual(worker.seatStarts, [1]);
  worker.seatReady(1);
  rig.settle();
  for (const _ of calls) {
    worker.startInner(1);
    rig.settle();
    assert.equal(worker.inner.get(1)?.length, 1, 'one at a time');
    worker.endInner(1);
    rig.settle();
  }
  assert.deepEqual(
    calls.map((call) => b.how(call)),
    ['did one', 'did two'],
  );
  assert.equal(a.how(outer), undefined, 'it still waits');
  worker.end();
  rig.settle();
  assert.equal(a.how(outer), 'did outer');
  assert.equal(rig.router.state.busy, 0);
  rig.pass(CALL_SEAT_IDLE_MS + 1000);
  assert.deepEqual(worker.seatKills, [1], 'its process is not kept for ever');
});

test('[C17] an idle worker takes inner calls first, and none goes behind a call that runs', () => {
  const { rig, b, worker } = waiting();
  const other = rig.worker('n2:1#1');
  const asset = b.asset('inner');
  const calls = [b.submit(asset, 'one'), b.submit(asset, 'two'), b.submit(asset, 'three')];
  rig.settle();
  assert.deepEqual(
    other.runs.map(({ payload }) => textOf(payload)),
    ['one'],
  );
  worker.seatReady(1);
  rig.settle();
  assert.deepEqual(
    worker.inner.get(1)?.map(({ payload }) => textOf(payload)),
    ['two'],
  );
  assert.deepEqual(worker.runs.length, 1, 'nothing waits behind the call that waits');
  other.start();
  other.end();
  rig.settle();
  assert.deepEqual(
    other.runs.map(({ payload }) => textOf(payload)),
    ['three'],
  );
  assert.equal(b.how(calls[0] as number), 'did one');
});

test('[C17] calls that are as deep as they go are refused at once, with the way out', () => {
  const { rig, b } = waiting(CALL_DEPTH_MAX);
  const call = b.submit(b.asset(), 'deep');
  rig.settle();
  const end = b.ends.get(call);
  assert.ok(end?.kind === 'settled');
  assert.equal(end.why, 'refused');
  assert.match(end.detail, /wait for each other 8 deep\. .*give the pool more workers/);
});

test('[C17] others get no place beside a call that waits', () => {
  const { rig, worker } = waiting();
  const c = rig.client('c');
  const call = c.submit(c.asset('other'), 'other');
  rig.settle();
  assert.deepEqual(worker.seatStarts, []);
  assert.equal(c.how(call), undefined);
});

test('[C17] an inner call whose process dies is lost alone, and one that cannot start refused', () => {
  const { rig, a, b, outer, worker } = waiting();
  const asset = b.asset('inner');
  const first = b.submit(asset, 'one');
  rig.settle();
  worker.seatReady(1);
  rig.settle();
  worker.startInner(1);
  worker.session.childDied('It was killed.', rig.now, 1);
  rig.settle();
  assert.equal(b.how(first), 'worker_lost');
  const second = b.submit(asset, 'two');
  rig.settle();
  for (let round = 0; round < 3; round += 1) worker.session.childDied('No memory.', rig.now, 1);
  rig.settle();
  assert.equal(b.how(second), 'refused');
  assert.equal(worker.exitCode, null);
  assert.equal(a.how(outer), undefined);
});

test('[C17] a restarted head runs no inner call twice', () => {
  const { rig, a, b, outer, worker } = waiting();
  const call = b.submit(b.asset('inner'), 'one');
  rig.settle();
  worker.seatReady(1);
  rig.settle();
  worker.startInner(1);
  rig.restart({ workers: [NAME] });
  for (const one of [worker, a, b]) one.connect();
  rig.settle();
  worker.endInner(1);
  worker.end();
  rig.settle();
  assert.equal(b.how(call), 'did one');
  assert.equal(a.how(outer), 'did outer');
  assert.deepEqual(worker.started, ['outer#1', 'one#1']);
});

/** A call, by the calls that it waits for. */
interface Tree {
  readonly inner: readonly Tree[];
}
function treeOf(depth: number): fc.Arbitrary<Tree> {
  const leaf = fc.constant<Tree>({ inner: [] });
  if (depth === 0) return leaf;
  const inner = fc.array(treeOf(depth - 1), { maxLength: 2 });
  return fc.oneof(leaf, fc.record({ inner }), fc.record({ inner }));
}

test('[C17] calls that wait for calls come to an end, however few workers there are', () => {
  const forests = fc.array(treeOf(CALL_DEPTH_MAX), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(forests, fc.integer({ min: 1, max: 3 }), (forest, workers) => {
      const play = new Play(workers);
      play.run(forest);
    }),
    { numRuns: 100 },
  );
});

/** Runs trees: a call that starts submits what is in it, and ends when all of that has ended. */
class Play {
  readonly #rig = new Rig();
  readonly #workers: Worker[] = [];
  readonly #waits: { client: Client; calls: readonly number[]; end: () => void }[] = [];
  readonly #trees: Tree[] = [];
  #clients = 0;

  constructor(workers: number) {
    for (let at = 0; at < workers; at += 1) this.#workers.push(this.#rig.worker(`n${at}:${at}#1`));
  }

  run(forest: readonly Tree[]): void {
    const { client, calls } = this.#submit(forest, null);
    for (let round = 0; calls.some((call) => client.how(call) === undefined); round += 1) {
      assert.ok(round < 2000, 'it comes to an end');
      for (const worker of this.#workers) this.#go(worker);
      this.#end();
      this.#rig.pass(50, 50);
    }
    for (const call of calls) assert.match(client.how(call) ?? '', /^did /);
  }

  #submit(trees: readonly Tree[], inside: { worker: string; depth: number } | null) {
    this.#clients += 1;
    const client = this.#rig.client(this.#clients.toString(16).padStart(16, '0'), false, inside);
    const asset = client.asset();
    const calls = trees.map((one) => {
      this.#trees.push(one);
      return client.submit(asset, String(this.#trees.length - 1));
    });
    this.#rig.settle();
    return { client, calls };
  }

  /** Starts what each of its processes has and has not started. */
  #go(worker: Worker): void {
    worker.giveBack();
    const own = worker.runs[0];
    if (own !== undefined && this.#isNew(own)) {
      worker.start();
      this.#begin(worker, 0, textOf(own.payload), () => worker.end());
    }
    for (const [depth, runs] of worker.inner) {
      worker.seatReady(depth);
      this.#rig.settle();
      const [inner] = runs;
      if (inner === undefined || !this.#isNew(inner)) continue;
      worker.startInner(depth);
      this.#begin(worker, depth, textOf(inner.payload), () => worker.endInner(depth));
    }
  }

  readonly #begun = new Set<object>();

  #isNew(call: object): boolean {
    if (this.#begun.has(call)) return false;
    this.#begun.add(call);
    return true;
  }

  #begin({ name }: Worker, depth: number, text: string, end: () => void): void {
    const { inner } = this.#trees[Number(text)] as Tree;
    this.#waits.push({ ...this.#submit(inner, { worker: name, depth }), end });
  }

  #end(): void {
    for (const one of [...this.#waits]) {
      const { client, calls, end } = one;
      if (calls.some((call) => client.how(call) === undefined)) continue;
      this.#waits.splice(this.#waits.indexOf(one), 1);
      client.session.close();
      end();
      this.#rig.settle();
    }
  }
}
