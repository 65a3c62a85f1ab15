// How often old accounting records are looked for, and what becomes of a store that refuses.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../../../../src/kernel/ports/clock.ts';
import type { Log } from '../../../../src/kernel/ports/log.ts';
import type { Pruned, PruneRule } from '../../../../src/kernel/ports/store.ts';
import { Retention } from '../../../../src/wings/lab/head/retention.ts';

const DAY_MS = 86_400_000;

function world(answers: (Pruned | Error)[]) {
  const asked: PruneRule[] = [];
  const said: string[] = [];
  const time = { now: 100 * DAY_MS, passed: 0 };
  const clock = { now: () => time.now, monotonic: () => time.passed } as Clock;
  const tell = (_: object, words: string) => void said.push(words);
  const log = { info: tell, warn: tell } as unknown as Log;
  const store = {
    async prune(rule: PruneRule): Promise<Pruned> {
      asked.push(rule);
      const answer = answers.shift() ?? { jobs: 0, isDone: true };
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  return { asked, said, time, parts: { store, clock, log } };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('[Y4] without a limit nothing is asked for', async () => {
  const { asked, parts } = world([]);
  new Retention({ keepMs: null, jobsMax: null }, parts).tick();
  await settled();
  assert.deepEqual(asked, []);
});

test('[Y4] what is left goes with the next look, then an hour passes', async () => {
  const { asked, said, time, parts } = world([
    { jobs: 20, isDone: false },
    { jobs: 5, isDone: true },
  ]);
  const retention = new Retention({ keepMs: 30 * DAY_MS, jobsMax: 9 }, parts);
  retention.tick();
  retention.tick();
  assert.equal(asked.length, 1, 'one at a time');
  await settled();
  retention.tick();
  await settled();
  retention.tick();
  assert.deepEqual(
    asked,
    Array(2).fill({ endedBefore: 70 * DAY_MS, jobsMax: 9, settledBefore: 99 * DAY_MS }),
  );
  assert.deepEqual(said, ['old accounting records are removed']);
  time.passed = 3_600_000;
  retention.tick();
  await settled();
  assert.equal(asked.length, 3);
  retention.change({ keepMs: null, jobsMax: 7 });
  retention.tick();
  assert.deepEqual(
    asked.at(-1),
    { endedBefore: null, jobsMax: 7, settledBefore: 99 * DAY_MS },
    'a reload counts at once',
  );
  await settled();
  retention.change({ keepMs: null, jobsMax: 7, exports: true });
  retention.tick();
  assert.equal(asked.at(-1)?.exportAs, 'history-1970-04');
});

test('[Y4] a store that refuses is asked again an hour later', async () => {
  const { asked, said, time, parts } = world([new Error('the disk is full')]);
  const retention = new Retention({ keepMs: DAY_MS, jobsMax: null }, parts);
  retention.tick();
  await settled();
  retention.tick();
  assert.deepEqual([asked.length, said.length], [1, 1]);
  time.passed = 3_600_000;
  retention.tick();
  assert.equal(asked.length, 2);
});
