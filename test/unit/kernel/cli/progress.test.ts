// How far something is: the estimate, the words, the line of a terminal, and plain lines where
// there is none.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TransferProgress } from '../../../../src/kernel/cli/connection/transfer-context.ts';
import { Context } from '../../../../src/kernel/cli/context.ts';
import { displayWidth } from '../../../../src/kernel/cli/output/table.ts';
import { paceOf, plainDueMs, withLook } from '../../../../src/kernel/cli/progress/pace.ts';
import { StatusLine } from '../../../../src/kernel/cli/progress/status-line.ts';
import { countedTasks } from '../../../../src/kernel/cli/progress/tasks.ts';
import { byteWords, countWords } from '../../../../src/kernel/cli/progress/words.ts';
import { jobView } from './views.ts';

const MINUTE = 60_000;

test('the rate is that of the last looks, and nobody guesses before something has moved', () => {
  assert.equal(paceOf([], 10), null);
  assert.equal(paceOf([{ atMs: 0, done: 3 }], 10), null);
  assert.equal(
    paceOf(
      [
        { atMs: 0, done: 3 },
        { atMs: 5000, done: 3 },
      ],
      10,
    ),
    null,
  );
  const pace = paceOf(
    [
      { atMs: 0, done: 3 },
      { atMs: 2000, done: 7 },
    ],
    10,
  );
  assert.deepEqual(pace, { perMs: 0.002, leftMs: 1500 });
  const looks = [0, 1, 2, 3, 4].reduce(
    (all, s) => withLook(all, { atMs: s * 1000, done: s * s }, 2000),
    withLook([], { atMs: 0, done: 0 }, 2000),
  );
  assert.deepEqual(
    looks.map(({ atMs }) => atMs),
    [2000, 3000, 4000],
  );
  const late = withLook([{ atMs: 0, done: 0 }], { atMs: 2003, done: 4 }, 2000);
  assert.equal(late.length, 2, 'looks as far apart as the window, and a little late');
});

test('the estimate is never negative and never infinite', () => {
  const look = fc.record({ atMs: fc.nat(1e9), done: fc.nat(1e6) });
  const property = fc.property(fc.array(look), fc.nat(1e6), (some, total) => {
    const pace = paceOf(
      [...some].sort((one, other) => one.atMs - other.atMs),
      total,
    );
    assert.ok(pace === null || (pace.perMs > 0 && pace.leftMs >= 0 && pace.leftMs < Infinity));
  });
  fc.assert(property);
});

test('plain lines come seldom: after 1, 2, 4 and 8 minutes, then each ten', () => {
  const due = [0, 1, 2, 3, 4, 5].map((nth) => plainDueMs(nth) / MINUTE);
  assert.deepEqual(due, [1, 2, 4, 8, 18, 28]);
});

const JOB = { taskCount: 1000, taskCounts: { done: 120, running: 8, pending: 872 } };

test('an array says how many are done, how many failed, how fast, and what is left', () => {
  const job = jobView({ id: 42, ...JOB, outcomeCounts: { completed: 117, failed: 2, timeout: 1 } });
  const counted = countedTasks([job]);
  assert.ok(counted !== null);
  const words = (perMs: number) => countWords(counted, { perMs, leftMs: 880 / perMs });
  assert.equal(
    words(0.0042),
    'job 42: 117 of 1000 tasks done, 3 failed, 4.2/s, 3m29s left; 8 running, 872 pending',
  );
  assert.match(words(0.0002), /12\/min, 1h13m left/);
  assert.match(words(3 / 3_600_000), /3\/h, 12d5h left/);
  assert.equal(
    countWords({ ...counted, failed: 0, rest: [] }, null),
    'job 42: 117 of 1000 tasks done',
  );
  const several = countedTasks([job, job]);
  assert.match(
    several === null ? '' : countWords(several, null),
    /^2 jobs: 234 of 2000 tasks done, 6/,
  );
  assert.equal(countedTasks([jobView()]), null);
});

test('a transfer says how much, how fast, and how long', () => {
  const pace = { perMs: 2048, leftMs: 18_000 };
  assert.equal(byteWords('sending', 1024, 4096, pace), 'sending 1K of 4K (25%), 2.0M/s, 18s left');
  assert.equal(byteWords('fetching', 9, 4, null), 'fetching 4 bytes of 4 bytes (100%)');
});

function contextOf(isTerminal: boolean, columns = 60) {
  const said: string[] = [];
  const context = new Context({
    program: 'weft',
    terminal: {
      out: (text) => said.push(`out: ${text}`),
      error: (text) => said.push(String(text)),
      outIsTerminal: isTerminal,
      errorIsTerminal: isTerminal,
      columns: () => columns,
    },
    environment: {},
    cwd: '/',
    programs: undefined as never,
    options: {},
    commands: undefined as never,
    wings: [],
  });
  return { context, said };
}

test('on a terminal it is one line, never wider than that, and gone at the end', () => {
  const { context, said } = contextOf(true, 20);
  const line = new StatusLine(context, () => 0);
  line.show('a line that is longer than the terminal');
  line.show('a line that is longer than the terminal, too');
  context.print('result');
  line.show('more');
  line.close();
  line.close();
  const clear = '\r\x1b[K';
  const cut = 'a line that is long';
  assert.ok(displayWidth(cut) < 20);
  assert.deepEqual(said, [clear + cut, clear, 'out: result\n', `${clear}more`, clear]);
  context.print('after');
  assert.equal(said.length, 6);
});

test('without a terminal it is a plain line when one is due, and one after a long sleep', () => {
  const { context, said } = contextOf(false);
  let now = 5;
  const line = new StatusLine(context, () => now);
  const at = (minutes: number) => {
    now = 5 + minutes * MINUTE;
    line.show(`after ${minutes}`);
  };
  for (const minutes of [0.5, 1, 1.5, 2, 3, 60, 61, 70]) at(minutes);
  line.close();
  assert.deepEqual(
    said,
    ['after 1', 'after 2', 'after 60', 'after 70'].map((words) => `weft: ${words}\n`),
  );
  assert.equal(context.statusLine, null);
  assert.equal(line.restMs(1000), 8 * MINUTE);
});

test('a transfer shows the rate of its last seconds', () => {
  const { context, said } = contextOf(true);
  let now = 0;
  const transfer = new TransferProgress(context, 'sending', () => now);
  transfer.start(100 * 1024);
  const step = (ms: number, bytes: number) => {
    now += ms;
    transfer.moved(bytes);
    transfer.tick();
  };
  step(1000, 10 * 1024);
  step(10_000, 0);
  step(1000, 20 * 1024);
  transfer.stop();
  assert.deepEqual(
    said.map((text) => text.replace('\r\x1b[K', '')),
    [
      'sending 10K of 100K (10%), 10K/s, 9s left',
      'sending 10K of 100K (10%)',
      'sending 30K of 100K (30%), 20K/s, 3.5s left',
      '',
    ],
  );
  const piped = contextOf(false);
  const quick = new TransferProgress(piped.context, 'sending', () => 0);
  quick.start(5);
  quick.tick();
  quick.stop();
  assert.deepEqual(piped.said, []);
});
