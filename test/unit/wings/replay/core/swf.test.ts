// The Standard Workload Format: what is read, what is told, what is left out.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { workloadOf } from '../../../../../src/wings/replay/core/machine.ts';
import { parseSwf } from '../../../../../src/wings/replay/core/swf.ts';

const UNKNOWN = '-1 -1 -1 -1 -1 -1 -1 -1';
const MACHINE = { nodeCount: 4, cpusPerNode: 16, memoryBytesPerNode: null };

/** Fields 1 to 10, as written, and eight that nobody reads. */
function line(fields: string): string {
  return `${fields} ${UNKNOWN}`;
}

function idsOf(text: string): string {
  const { jobs } = workloadOf(parseSwf(text).jobs, MACHINE);
  return jobs.map((job) => job.id).join(' ');
}

test('a job is read by the numbers of the standard', () => {
  const text = `; Version: 2.2\n\n  ${line('7 100 5 60 8 -1 -1 16 90 2048')} extra words\r\n`;
  assert.deepEqual(parseSwf(text), {
    jobs: [{ id: '7', submitS: 100, runS: 60, processors: 16, estimateS: 90, memoryKib: 2048 }],
    broken: [],
  });
});

test('a size that was not requested is the one that was allocated', () => {
  const sizes = parseSwf(
    [line('1 0 0 9 8 -1 -1 -1 9 -1'), line('2 0 0 9 8 -1 -1 0 9 -1')].join('\n'),
  );
  assert.deepEqual(
    sizes.jobs.map((job) => job.processors),
    [8, 8],
  );
});

test('a broken line is told with its number and the reason, and the rest is read', () => {
  const good = line('1 0 0 9 8 -1 -1 8 9 -1');
  const lines = [
    '; a comment',
    good,
    '2 5 -1',
    line('3 0 0 nine 8 -1 -1 8 9 -1'),
    line('4 -1 0 9 8 -1 -1 8 9 -1'),
    line('5 0 0 9 0x8 -1 -1 8 9 -1'),
    'not a job at all',
    good,
  ];
  const { jobs, broken } = parseSwf(lines.join('\n'));
  assert.equal(jobs.length, 2);
  assert.deepEqual(broken, [
    { line: 3, reason: '3 fields, a job has 18' },
    { line: 4, reason: "field 4 (run time) is no number: 'nine'" },
    { line: 5, reason: 'field 2 (submit time) is not known' },
    { line: 6, reason: "field 5 (allocated processors) is no number: '0x8'" },
    { line: 7, reason: '5 fields, a job has 18' },
  ]);
});

test('jobs without size or run time, and those too wide, are left out and counted', () => {
  const trace = parseSwf(
    [
      line('1 0 0 9 -1 -1 -1 -1 9 -1'),
      line('2 0 0 0 8 -1 -1 8 9 -1'),
      line('3 0 0 -1 8 -1 -1 8 9 -1'),
      line('4 0 0 9 8 -1 -1 65 9 -1'),
      line('5 0 0 9 8 -1 -1 64 9 -1'),
    ].join('\n'),
  );
  const { jobs, dropped } = workloadOf(trace.jobs, MACHINE);
  assert.deepEqual(dropped, { incomplete: 3, tooLarge: 1 });
  assert.deepEqual(
    jobs.map((job) => job.id),
    ['5'],
  );
});

test('the run time is cut at the estimate; an estimate that is missing is the run time', () => {
  const trace = parseSwf(
    [line('1 0 0 90 1 -1 -1 1 60 -1'), line('2 0 0 90 1 -1 -1 1 -1 -1')].join('\n'),
  );
  const { jobs } = workloadOf(trace.jobs, MACHINE);
  assert.deepEqual(
    jobs.map((job) => [job.runMs, job.walltimeMs]),
    [
      [60_000, 60_000],
      [90_000, 90_000],
    ],
  );
});

test('jobs arrive by submit time, then in the order of the trace', () => {
  const submits = ['1 5', '2 3', '9 5', '4 0', '3 5'];
  assert.equal(
    idsOf(submits.map((ids) => line(`${ids} 0 9 1 -1 -1 1 9 -1`)).join('\n')),
    '4 2 1 9 3',
  );
});

test('a job asks for as few nodes as can hold it, evenly, by cpus and by memory', () => {
  const kib = 1024;
  const sizes = [line(`1 0 0 9 20 -1 -1 20 9 -1`), line(`2 0 0 9 20 -1 -1 20 9 2`)].join('\n');
  const machine = { ...MACHINE, memoryBytesPerNode: 10 * kib };
  const { jobs } = workloadOf(parseSwf(sizes).jobs, machine);
  assert.deepEqual(
    jobs.map(({ request: { nodeCount, perNode } }) => [
      ...[nodeCount, perNode.cpuCount, perNode.memoryBytes / kib],
    ]),
    [
      [2, 10, 0],
      [4, 5, 10],
    ],
  );
  const tooMuch = parseSwf(line('3 0 0 9 1 -1 -1 1 9 11')).jobs;
  assert.deepEqual(workloadOf(tooMuch, machine).dropped, { incomplete: 0, tooLarge: 1 });
});
