// The test runner's own counting: what failed is never lost, what did not run never counts.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, it } from 'node:test';
import { missingPackages } from '../../../tools/debian-packages.ts';
import { affectedTests } from '../../../tools/testing/changed.ts';
import { endHung } from '../../../tools/testing/end-hung.ts';
import { flakyInARow } from '../../../tools/testing/flaky-streak.ts';
import { parseOptions } from '../../../tools/testing/options.ts';
import { addResults, type StageResult, slowest } from '../../../tools/testing/result.ts';
import { readSummary } from '../../../tools/testing/run-program.ts';
import {
  inOrder,
  STAGES,
  sharesProcess,
  strayTests,
  usesRealProcesses,
} from '../../../tools/testing/stages.ts';
import { ROOT } from '../../../tools/tree.ts';

const FIXTURES = 'test/fixtures/test-runner';

/** Runs a fixture in a process of its own: Node's runner does not run inside one of its tests. */
async function countsOf(fixture: string): Promise<Omit<StageResult, 'tests' | 'flaky'>> {
  const { passed, failed, skipped } = await resultOf(fixture);
  return { passed, failed, skipped };
}

async function resultOf(fixture: string, variables?: NodeJS.ProcessEnv): Promise<StageResult> {
  return (await runOf([fixture], variables)).result;
}

async function runOf(
  fixtures: readonly string[],
  variables: NodeJS.ProcessEnv = {},
): Promise<{ readonly result: StageResult; readonly output: string }> {
  const files = fixtures.map((fixture) => path.join(FIXTURES, fixture));
  const args = [path.join(FIXTURES, 'run-one.ts'), ...files];
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...env, ...variables },
  });
  const [output, errors] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  const last = output.trimEnd().split('\n').at(-1) ?? '';
  assert.match(last, /^\{/, errors);
  return { result: JSON.parse(last) as StageResult, output };
}

it('each test counts once, a failed hook counts, skipped and todo tests are no passes', async () => {
  assert.deepEqual(await countsOf('every-ending.ts'), { passed: 2, failed: 4, skipped: 2 });
});

it('a file without a test counts as failed', async () => {
  assert.deepEqual(await countsOf('no-test.ts'), { passed: 0, failed: 1, skipped: 0 });
});

it('a file whose process ends in mid-test counts as failed', async () => {
  assert.deepEqual(await countsOf('crash.ts'), { passed: 0, failed: 1, skipped: 0 });
});

const TOGETHER = { WEFT_TEST_IS_PURE: 'yes' };

it('files that only compute run in one process and count as they do alone', async () => {
  const files = ['every-ending.ts', 'no-test.ts', 'cannot-load.ts', 'helped.ts'];
  const { result, output } = await runOf(files, TOGETHER);
  const { passed, failed, skipped, flaky } = result;
  assert.deepEqual([passed, failed, skipped, flaky], [3, 7, 2, []]);
  assert.match(output, /FAILED \S+\/every-ending\.ts:7 fails\n/);
  assert.match(output, /FAILED \S+\/every-ending\.ts:\d+ a suite whose hook fails\n/);
  assert.match(output, /FAILED \S+\/no-test\.ts:1 holds no test/);
  assert.match(output, /FAILED \S+\/cannot-load\.ts:1 .*\n.*never loads/);
  assert.match(output, /fails by a helper\n(?:.*\n)+.*\/helped\.ts:7/);
  assert.match(output, /4 files in one process: \d of 11/);
});

it('where their process ends in mid-test, what it had not done runs alone', async () => {
  const { result, output } = await runOf(['helped.ts', 'crash.ts'], TOGETHER);
  assert.equal(result.failed, 2);
  assert.match(output, /the process of 2 files ended with 3; .*\/helped\.ts.*\/crash\.ts/);
  assert.match(output, /crash\.ts failed: it runs once more, alone\n/);
});

it('what no test of theirs fails by fails as it does alone, and names its file', async () => {
  const { result, output } = await runOf(['half-loads.ts', 'leaves-error.ts'], TOGETHER);
  assert.deepEqual([result.passed, result.failed], [2, 2]);
  assert.match(output, /FAILED \S+\/half-loads\.ts:1 .*\n.*it loads half-way/);
  assert.match(output, /FAILED \S+\/leaves-error\.ts:1 .*\n.*too late/);
});

it('the exit code of their process counts where no test has failed', async () => {
  const { result, output } = await runOf(['exit-code.ts', 'passes.ts'], TOGETHER);
  assert.deepEqual([result.passed, result.failed], [2, 1]);
  assert.match(output, /the process of 2 files ended with 9, and no test says why/);
});

it('where one of them hangs, their process is ended, and no file is lost by it', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-hangs-'));
  after(() => rmSync(folder, { recursive: true }));
  const { result, output } = await runOf(['hangs-once.ts', 'passes.ts'], {
    ...TOGETHER,
    WEFT_TEST_RAN_BEFORE: path.join(folder, 'ran'),
    WEFT_TEST_FILE_MS: '20000',
  });
  assert.match(output, /hangs: it is ended after 20 s of silence/);
  assert.deepEqual([result.passed, result.failed, result.flaky?.length], [2, 0, 1]);
});

it('a file with hooks of its own has a process of its own', async () => {
  const { result, output } = await runOf(['hooked.ts', 'passes.ts', 'helped.ts'], TOGETHER);
  assert.deepEqual([result.passed, result.failed], [3, 1]);
  assert.match(output, /2 files in one process: 2 of 3/);
});

it('a file whose helper makes its tests is named when one fails', async () => {
  const { output } = await runOf(['helped.ts']);
  assert.match(output, /FAILED \S+\/helped\.ts \(\S+\/helper\.ts:\d+\) fails by a helper/);
});

it('a file that fails beside others and passes alone counts as passed and is named', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-flaky-'));
  after(() => rmSync(folder, { recursive: true }));
  const WEFT_TEST_RAN_BEFORE = path.join(folder, 'ran');
  const { passed, failed, flaky } = await resultOf('fails-once.ts', { WEFT_TEST_RAN_BEFORE });
  assert.deepEqual([passed, failed], [2, 0]);
  assert.deepEqual(flaky, [`${FIXTURES}/fails-once.ts: races`]);
});

it('a file that fails twice counts once, and is not flaky', async () => {
  const { failed, flaky } = await resultOf('every-ending.ts');
  assert.deepEqual([failed, flaky], [4, []]);
});

it('a file that hangs is ended, fails, and runs once more', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-hangs-'));
  after(() => rmSync(folder, { recursive: true }));
  const variables = {
    WEFT_TEST_RAN_BEFORE: path.join(folder, 'ran'),
    WEFT_TEST_FILE_MS: '20000',
  };
  const { passed, failed, flaky } = await resultOf('hangs-once.ts', variables);
  assert.deepEqual([passed, failed], [1, 0]);
  assert.equal(flaky?.length, 1);
});

it('a process that does not end when it is asked to is killed', async () => {
  const hanging = spawn('sh', [
    '-c',
    'trap "" TERM; echo ready; while :; do sleep 1; done',
    'file',
  ]);
  await once(hanging.stdout, 'data');
  const stop = endHung(['file'], { fileMs: 100, endingMs: 500, lookMs: 50 });
  const [, signal] = await once(hanging, 'exit');
  stop();
  assert.equal(signal, 'SIGKILL');
});

it('only files with real processes or sockets may fail once', () => {
  const racy = ['test/e2e/jobs.test.ts', 'test/contract/a.test.ts', 'test/unit/agent/a.test.ts'];
  const pure = [
    'test/unit/kernel/base/a.test.ts',
    'test/traces/a.test.ts',
    'test/unit/sim/a.test.ts',
  ];
  assert.deepEqual([...racy, ...pure].filter(usesRealProcesses), racy);
});

it('unit files share a process where they are pure or ask the system for files only', () => {
  const calm = "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\n";
  const shares = (file: string, more = '') => sharesProcess(`test/${file}.test.ts`, calm + more);
  assert.ok(shares('unit/kernel/head/a'));
  assert.ok(shares('unit/kernel/head/a', "import { readFile } from 'node:fs/promises';"));
  assert.ok(shares('unit/kernel/base/a', 'setTimeout(f)'));
  assert.ok(!shares('unit/kernel/base/a', 'afterEach(() => {'));
  assert.ok(!shares('unit/kernel/base/a', "setFlagsFromString('--expose-gc')"));
  assert.ok(!shares('e2e/a') && !shares('contract/a'));
  for (const asks of [
    "} from 'node:child_process';",
    "} from 'node:timers';",
    "} from 'node:timers/promises';",
    'beforeEach(() => {',
    'process.env',
    'setTimeout(f)',
  ]) {
    assert.ok(!shares('unit/kernel/head/a', asks), asks);
  }
});

it('a program is one check, or as many as its summary says', () => {
  const counts = (summary: string | undefined, exitCode: number | null) => {
    const { passed, failed } = readSummary(summary, exitCode);
    return [passed, failed];
  };
  assert.deepEqual(counts(undefined, 0), [1, 0]);
  assert.deepEqual(counts(undefined, null), [0, 1]);
  assert.deepEqual(counts('12 passed, 3 failed', 1), [12, 3]);
  assert.deepEqual(counts('12 passed, 0 failed', 1), [12, 1]);
});

it('results add up and the slowest tests come first', () => {
  const one = { passed: 1, failed: 2, skipped: 3, tests: [{ title: 'a', durationMs: 1 }] };
  const two = { passed: 10, failed: 20, skipped: 30, tests: [{ title: 'b', durationMs: 2 }] };
  const sum = addResults([one, two]);
  assert.deepEqual([sum.passed, sum.failed, sum.skipped], [11, 22, 33]);
  assert.deepEqual(
    slowest(sum.tests, 1).map((test) => test.title),
    ['b'],
  );
});

it('a test file in a folder of no stage is a stray', () => {
  const files = ['test/unit/core/a.test.ts', 'test/other/b.test.ts', 'sim/c.test.ts'];
  assert.deepEqual(strayTests(files), ['test/other/b.test.ts', 'sim/c.test.ts']);
});

it('flags select stages, and a wrong stage is refused with the list', () => {
  assert.equal(parseOptions([]).only.length, STAGES.length);
  assert.deepEqual(parseOptions(['--only', 'unit,tidy']).only, ['unit', 'tidy']);
  assert.match(String(parseOptions(['--grep', 'J7']).grep), /J7/);
  assert.throws(() => parseOptions(['--only', 'units']), /No stage units; .*typecheck, tidy/);
  assert.throws(() => parseOptions(['--onyl', 'unit']), /--onyl/);
});

it('a change is tested by what imports it, however far down', () => {
  const files = new Map([
    ['test/a.test.ts', "import { b } from '../src/b.ts';"],
    ['test/c.test.ts', "import { c } from '../src/c.ts';"],
    ['src/b.ts', "import type { D } from './d.ts';"],
    ['src/c.ts', "import { gone } from './gone.ts';"],
    ['src/d.ts', "import { b } from './b.ts';"],
  ]);
  const tests = ['test/a.test.ts', 'test/c.test.ts'];
  const affected = (...changed: string[]) =>
    affectedTests(tests, new Set(changed), (file) => files.get(file));
  assert.deepEqual(affected('src/d.ts'), ['test/a.test.ts']);
  assert.deepEqual(affected('test/c.test.ts'), ['test/c.test.ts']);
  assert.deepEqual(affected('src/gone.ts'), ['test/c.test.ts']);
  assert.deepEqual(affected('docs/README.md'), []);
});

it('--changed leaves out real clusters, and says what it compares with', () => {
  const { only, changedSince } = parseOptions(['--changed']);
  assert.equal(changedSince, 'main');
  assert.ok(only.includes('unit') && !only.includes('e2e'));
  assert.equal(parseOptions([]).changedSince, undefined);
});

it('a stage that needs no package misses none', () => {
  assert.deepEqual(missingPackages(['typecheck']), []);
});

it('the longest files begin first, the others keep their order', () => {
  const files = ['b', 'package', 'c', 'virtual-machine', 'a'].map(
    (name) => `test/e2e/${name}.test.ts`,
  );
  const names = inOrder(files).map((file) => file.slice('test/e2e/'.length, -'.test.ts'.length));
  assert.deepEqual(names, ['virtual-machine', 'package', 'b', 'c', 'a']);
});

it('a file that passes only at the second try is a failure in the third such run in a row', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-flaky-'));
  after(() => rmSync(folder, { recursive: true }));
  const kept = path.join(folder, 'kept', 'flaky.json');
  const both = ['test/e2e/one.test.ts', 'test/e2e/two.test.ts'];
  const run = (files: string[], ...flaky: string[]): string[] =>
    flakyInARow({ files, flaky }, kept);
  const one = 'test/e2e/one.test.ts: a job: ends';
  assert.deepEqual(run(both, one, 'test/e2e/one.test.ts: another'), []);
  assert.deepEqual(run(both, one, 'test/e2e/two.test.ts: a node'), []);
  assert.deepEqual(run(['test/e2e/two.test.ts']), [], 'the first did not run, the second passed');
  assert.deepEqual(run(both, one, 'test/e2e/two.test.ts: a node'), ['test/e2e/one.test.ts']);
  assert.deepEqual(run(both), []);
  assert.deepEqual(run(both, one), [], 'counting begins anew');
  writeFileSync(kept, '{"test');
  assert.deepEqual(run(both, one), [], 'a record that was cut short');
});
