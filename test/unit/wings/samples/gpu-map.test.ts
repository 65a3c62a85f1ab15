// All gpus of a cluster together: how much they worked, how full they were, and who has them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Services } from '../../../../src/kernel/head/http/services.ts';
import type { EpochId, NodeName } from '../../../../src/kernel/model/ids.ts';
import type { Clock } from '../../../../src/kernel/ports/clock.ts';
import { writeLooks } from '../../../../src/wings/samples/core/said.ts';
import { gpuMap } from '../../../../src/wings/samples/head/gpu-map.ts';
import { Samples } from '../../../../src/wings/samples/head/samples.ts';
import { LOOK_MS } from '../../../../src/wings/samples/model/look.ts';
import { heldIn } from '../../../../src/wings/samples/model/past.ts';
import { sqliteShelf } from '../../../../src/wings/samples/store/sqlite-shelf.ts';
import { TestHead } from '../../../support/controller.ts';
import { card, GIB } from '../../../support/nodes.ts';

const LOG = { debug() {}, info() {}, warn() {}, error() {} };
const BEGIN = 3_600_000 * 1000;

function world(names: readonly string[], cardCount: number) {
  const head = new TestHead();
  const cards = Array.from({ length: cardCount }, (_, at) =>
    card(at, at === 1 ? { state: 'ill', why: 'ill: GPU is lost' } : {}),
  );
  for (const name of names) head.connect(name, { cpus: 4, gpus: cardCount, cards });
  const clock = { at: BEGIN, now: () => clock.at, monotonic: () => clock.at };
  const shelf = sqliteShelf(':memory:');
  const samplesOf = (): Samples => new Samples(shelf, clock as unknown as Clock, LOG);
  const samples = samplesOf();
  const look = (
    name: string,
    busyPercent: number,
    memoryBytes: number,
    epochs: readonly string[] = [],
  ): void => {
    clock.at += LOOK_MS;
    const gpus = [{ number: 0, busyPercent, memoryBytes }];
    const tasks = epochs.map((epochId) => {
      return { epochId: epochId as EpochId, cpuMilli: 1, memoryBytes: 1, gpuMilli: 1 };
    });
    const looks = [{ at: clock.at, node: null, tasks, gpus }];
    samples.hear(head.state, name as NodeName, writeLooks(looks, clock.at));
  };
  const askOf =
    (own: Samples) =>
    async (query: object = {}) => {
      const call = { query } as Parameters<typeof gpuMap>[1];
      const services = { engine: head, samples: own, clock } as unknown as Services;
      const answer = await gpuMap(services, call);
      assert.ok(answer.ok);
      return answer.value;
    };
  const restart = () => {
    samples.flush(head.state);
    return askOf(samplesOf());
  };
  return { head, look, ask: askOf(samples), restart };
}

test('[V20] each card has its means, who has it, and what keeps it from being given', async () => {
  const { head, look, ask } = world(['n10', 'n2'], 2);
  head.running({ gpuCount: 1, cpuCount: 1 });
  for (let count = 0; count < 12; count += 1) look('n2', count < 6 ? 20 : 40, 8 * GIB);
  const { nodes, stepMs, isWhole, from } = await ask({ from: BEGIN });
  assert.deepEqual([nodes.map(({ name }) => name), stepMs, isWhole], [['n2', 'n10'], 10_000, true]);
  assert.equal(from, BEGIN);
  const given = nodes.flatMap(({ cards }) => cards).find(({ state }) => state === 'given');
  assert.deepEqual([given?.tasks, given?.users, given?.why], [['1#1'], ['ann'], null]);
  const [first, second] = nodes[0]?.cards ?? [];
  assert.deepEqual(first?.percents, [null, 20, 20, 20, 20, 20, 20, 40, 40, 40, 40, 40, 40]);
  assert.deepEqual(
    second?.percents.filter((point) => point !== null),
    [],
    'nobody told of it',
  );
  assert.deepEqual([second?.state, second?.why], ['ill', 'ill: GPU is lost']);
  const hour = await ask();
  assert.equal(hour.stepMs, 60_000);
  assert.equal(hour.nodes[0]?.cards[0]?.percents.at(-1), 40, 'a minute that is not over');
  const full = await ask({ from: BEGIN, figure: 'memory' });
  assert.equal(full.nodes[0]?.cards[0]?.percents.at(-1), Math.round((100 * 8) / 24));
});

test('[V26] a card has the tasks that had it earlier, which outlives the head', async () => {
  const { head, look, ask, restart } = world(['n1'], 2);
  const id = head.running({ gpuCount: 1, cpuCount: 1 });
  const task = `${id}#1`;
  for (let count = 0; count < 12; count += 1) look('n1', 20, GIB, [task]);
  head.ended(task);
  for (let count = 0; count < 12; count += 1) look('n1', 0, GIB);
  const after = restart();
  const { nodes } = await after({ from: BEGIN });
  const [first, second] = nodes[0]?.cards ?? [];
  const [from, until] = [BEGIN + LOOK_MS, BEGIN + 12 * LOOK_MS];
  assert.deepEqual(first?.past, [{ task, user: 'ann', from, until }]);
  assert.deepEqual([first?.tasks, second?.past], [[], []]);
  assert.deepEqual(heldIn(first?.past ?? [], { from: until, until: until + 1 }).users, ['ann']);
  assert.deepEqual(heldIn(first?.past ?? [], { from: BEGIN, until: from }).tasks, []);
  const { nodes: later } = await ask({ from: until + 1 });
  assert.deepEqual(later[0]?.cards[0]?.past, []);
});

test('[V20] an answer is bounded, in its cards and in its steps', async () => {
  const names = Array.from({ length: 210 }, (_, at) => `n${at + 1}`);
  const { ask } = world(names, 8);
  for (const days of [0.04, 1, 7, 300, 4000]) {
    const { nodes, isWhole } = await ask({ from: BEGIN - days * 86_400_000 });
    assert.deepEqual([nodes.length, isWhole], [200, false]);
    const steps = nodes[0]?.cards[0]?.percents.length ?? 0;
    assert.ok(steps > 0 && steps <= 80, `${steps} steps of ${days} days`);
  }
});
