// What the page writes: amounts, times in the reader's zone, commands that do the same, and what
// `why` offers as a change.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeWords } from '../../../../src/kernel/head/answers/words/prospect.ts';
import { OUTCOMES, TASK_STATES } from '../../../../src/kernel/model/job.ts';
import {
  actionCommand,
  changeCommand,
  jobsCommand,
  NO_FILTER,
  runCommand,
  submitScript,
} from '../../../../src/kernel/page/pure/command-line.ts';
import { EMPTY_FORM, problemsOf, submissionOf } from '../../../../src/kernel/page/pure/job-form.ts';
import { changeOf } from '../../../../src/kernel/page/pure/smaller.ts';
import { isFailure, toneOf } from '../../../../src/kernel/page/pure/state.ts';
import {
  axisWords,
  endWords,
  exitWords,
  fullInstant,
  instantWords,
  ownClock,
  some,
  spanWords,
  switchWords,
} from '../../../../src/kernel/page/pure/words.ts';

test('spans have two units', () => {
  const rows: [number, string][] = [
    ...([
      [0, '0ms'],
      [999, '999ms'],
      [1000, '1s'],
      [59_999, '59s'],
      [60_000, '1m00s'],
    ] as const),
    ...([
      [3_600_000, '1h00m'],
      [90_061_000, '1d01h'],
      [-5, '0ms'],
    ] as const),
  ].map(([ms, words]) => [ms, words]);
  for (const [ms, words] of rows) assert.equal(spanWords(ms), words);
});

test('instants are in the reader’s zone, short today, with the year in another', () => {
  const at = Date.UTC(2026, 10, 22, 17, 20, 3);
  assert.equal(instantWords(at, at, 'Europe/Berlin'), '18:20:03');
  assert.equal(instantWords(at, at + 86_400_000, 'Europe/Berlin'), '11-22 18:20');
  assert.equal(instantWords(at, at + 90 * 86_400_000, 'UTC'), '2026-11-22 17:20');
  assert.equal(fullInstant(at, 'Europe/Berlin'), '2026-11-22 18:20:03 UTC+01:00');
  const axis = [0, 3_600_000, 3_600_007].map((ms) =>
    axisWords(Date.UTC(2026, 10, 22) + ms, at, 'UTC'),
  );
  assert.deepEqual(axis, ['00:00', '01:00', '01:00']);
  assert.equal(axisWords(Date.UTC(2026, 10, 20), at, 'UTC'), '11-20');
  assert.equal(ownClock('since 2026-11-22T17:20:03Z.', at, 'UTC'), 'since 17:20:03.');
  assert.equal(some(1, 'job') + some(1234, 'job'), '1 job1,234 jobs');
  assert.equal(
    exitWords({ code: 3 }) + exitWords({ signal: 9 }) + exitWords({ code: 0 }),
    'exit 3signal 9',
  );
});

test('how something ended is said once, by whoever decided it', () => {
  const lost = 'not kept, as outside distribute_save/: a.csv (1 file, 3 bytes)';
  const rows = [
    ['failed', { code: 3 }, 'exited with code 3 on n1', 'exit 3'],
    ['failed', { code: 3 }, `exited with code 3 on n1; ${lost}`, `exit 3; ${lost}`],
    ['completed', { code: 0 }, lost, lost],
    ['timeout', { signal: 15 }, 'reached its time limit', 'reached its time limit'],
    ['node_fail', null, null, ''],
  ] as const;
  for (const [kind, exit, detail, words] of rows) {
    assert.equal(endWords({ exit, outcome: { kind, detail } }), words);
  }
});

test('a form that says nothing asks for nothing, as on the command line', () => {
  const form = { ...EMPTY_FORM, command: 'make' };
  assert.deepEqual(problemsOf(form), {});
  const program = { kind: 'shell', line: 'make' };
  assert.deepEqual(submissionOf(form), { program, directory: { kind: 'private' } });
  assert.equal(runCommand(form), 'weft run --private -- make');
});

const NO_GPUS = { gpuType: '', gpuMemory: '', gpuShare: '', gpuLinks: '' };

test('each filter and action has its command', () => {
  assert.equal(jobsCommand(NO_FILTER), 'weft jobs');
  const filter = { ...NO_FILTER, state: 'all', owner: 'bob', outcome: 'failed', name: "a b's" };
  assert.equal(
    jobsCommand(filter),
    "weft jobs --all --user bob --outcome failed --name 'a b'\\''s'",
  );
  assert.equal(
    jobsCommand({ ...NO_FILTER, sort: 'priority', state: 'pending' }),
    'weft jobs --state pending --sort priority',
  );
  assert.equal(actionCommand('kill', [15, 12, 13, 14, 20, 21]), 'weft kill 12-15,20,21');
  const form = { command: 'echo "hi"', name: 'x y', nodes: '2', cpus: '', memory: '1G', gpus: '' };
  const whole = { ...form, time: '1h', partition: '', array: '0-9', chdir: '', ...NO_GPUS };
  const options = "--name 'x y' --nodes 2 --memory 1G --time 1h --array 0-9 --private";
  assert.equal(runCommand(whole), `weft run ${options} -- 'echo "hi"'`);
  assert.equal(submitScript(whole), `#!/bin/sh\n#WEFT ${options}\necho "hi"\n`);
});

test('every offer of the head becomes a change with its command', () => {
  const all = [
    { what: 'nodes', to: 3, from: 4 },
    { what: 'cpus', to: 1, from: 2 },
    { what: 'gpus', to: 0, from: 2 },
    { what: 'memory', to: 1024 ** 3, from: 2 * 1024 ** 3 },
    { what: 'walltime', to: 59 * 60_000, from: null },
  ] as const;
  const change = changeOf(changeWords([...all]));
  assert.deepEqual(change, {
    nodeCount: 3,
    cpuCount: 1,
    gpuCount: 0,
    memoryBytes: 1024 ** 3,
    walltimeMs: 3_540_000,
  });
  const command = 'weft change 7 --nodes 3 --cpus 1 --gpus 0 --memory 1G --time 59m';
  assert.equal(changeCommand(7, change ?? {}), command);
  assert.equal(changeOf('another queue'), null);
});

test('every state has a tone, and only bad ends are bad', () => {
  const good = new Set([...TASK_STATES, 'held', 'completed', 'cancelled']);
  good.delete('done');
  for (const word of good) assert.notEqual(toneOf(word), 'bad', word);
  for (const word of OUTCOMES) if (!good.has(word)) assert.equal(toneOf(word), 'bad', word);
});

test('a link that makes one somebody else says so', () => {
  const words = switchWords('alice', 'mallory') ?? '';
  assert.match(words, /logged you in as mallory; before, you were alice/);
  assert.equal(switchWords('alice', 'alice'), null);
  assert.equal(switchWords(null, 'alice'), null);
});

test('what completed or was cancelled has not failed; every other end has', () => {
  const failed = OUTCOMES.filter((outcome) => isFailure(outcome));
  assert.deepEqual(
    OUTCOMES.filter((outcome) => !failed.includes(outcome)),
    ['completed', 'cancelled'],
  );
});
