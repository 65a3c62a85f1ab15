// Goal state against actual state, and the scripts that look and repair, run by a real shell.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { compareGoals, meetsPattern } from '../../../../../src/wings/goals/core/compare.ts';
import {
  describeDifference,
  type Facts,
  type Goal,
} from '../../../../../src/wings/goals/core/goal.ts';
import {
  checkScript,
  readReport,
  repairScript,
} from '../../../../../src/wings/goals/core/script.ts';

const FACTS: Facts = {
  kernel: '6.1.0-18',
  os: 'linux',
  arch: 'x64',
  agent: '1.0.0',
  launcher: 'c',
  limits: 'cgroup v2',
  network: null,
  cpus: 4,
  memory: 2 ** 33,
  disk: 2 ** 30,
  fault: 'none',
  gpus: 2,
  gpu_driver: 'nvidia 580.1',
  gpu_fault: null,
};

const check = (
  name: string,
  line: string,
  expect: string | null = null,
  repair = 'true',
): Goal => ({
  name,
  repair,
  test: { kind: 'check', line, expect },
});

const words = (goals: readonly Goal[], said: Parameters<typeof compareGoals>[2] = new Map()) =>
  compareGoals(goals, FACTS, said).map(describeDifference);

test('[M20] facts are compared by pattern or by amount, and what nobody knows is no difference', () => {
  const fact = (test: Extract<Goal['test'], { kind: 'fact' }>): Goal => ({
    name: 'g',
    test,
    repair: null,
  });
  assert.deepEqual(words([fact({ kind: 'fact', fact: 'kernel', is: '6.1.*' })]), []);
  assert.deepEqual(words([fact({ kind: 'fact', fact: 'kernel', is: '6.1' })]), [
    'g is 6.1.0-18, expected 6.1',
  ]);
  assert.deepEqual(words([fact({ kind: 'fact', fact: 'network', is: 'eth0' })]), []);
  assert.deepEqual(words([fact({ kind: 'fact', fact: 'cpus', atLeast: 4 })]), []);
  assert.deepEqual(words([fact({ kind: 'fact', fact: 'disk', atLeast: 2 ** 34 })]), [
    'g is 1G, expected at least 16G',
  ]);
  assert.deepEqual(words([check('c', 'true')]), [], 'a check that has not run');
});

test('[M20] a pattern means the same here and in the shell', () => {
  const texts = ['', 'a', 'ab', 'a*b', 'axxb', 'x a b', "it's", '[ab]', '?', 'a\\b'];
  const patterns = ['', 'a', 'a*', '*b', 'a*b', '*', '**', '[ab]', '?', "it's", 'a\\b', '$(false)'];
  for (const text of texts) {
    for (const pattern of patterns) {
      const goal = check('g', `printf %s '${text.replaceAll("'", "'\\''")}'`, pattern);
      const { status } = spawnSync('sh', [
        '-c',
        repairScript({ goals: [goal] }, { unmet: [], illGpus: [] }),
      ]);
      assert.equal(status === 0, meetsPattern(text, pattern), `${text} by ${pattern}`);
    }
  }
});

test('[M20] checks run each in a shell of its own, whatever they are', () => {
  const goals = [
    check('fine', 'echo "  two words "', 'two words'),
    check('lines', 'echo one; echo two', 'one two'),
    check('loud', 'echo no >&2; exit 3'),
    check('broken', 'if then ('),
    check('silent', 'exit 0', 'ok'),
    check('quotes', `echo "it's" 'a $HOME'`, "it's a $HOME"),
    check('long', 'yes | head -c 100000', 'y*'),
  ];
  const { stdout } = spawnSync('sh', ['-c', checkScript({ goals })], { encoding: 'utf8' });
  const report = readReport(stdout);
  assert.equal(report.size, goals.length);
  assert.deepEqual(report.get('loud'), { code: 3, said: 'no' });
  assert.ok((report.get('long')?.said.length ?? 0) <= 400);
  const different = compareGoals(goals, FACTS, report);
  assert.deepEqual(
    different.map(({ goal }) => goal),
    ['loud', 'broken', 'silent'],
  );
  assert.equal(
    describeDifference(different[2] as never),
    'silent is nothing (exit code 0), expected ok',
  );
});

test('[M20] a repair mends what differs, and is over when the checks say so', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-goal-'));
  const file = path.join(folder, 'there');
  const other = path.join(folder, 'other');
  try {
    const goals = [
      check('file', `cat ${file}`, 'yes', `echo yes > ${file}`),
      check('other', 'true', null, `touch ${other}`),
    ];
    const run = (unmet: string[]) =>
      spawnSync('sh', ['-c', repairScript({ goals }, { unmet, illGpus: [] })], {
        encoding: 'utf8',
      });
    const untouched = run([]);
    assert.equal(untouched.status, 1, 'nothing was repaired');
    assert.match(untouched.stdout, /weft-goal: file still differs/);
    const ills = { unmet: ['file'], illGpus: ['0000:01:00.0', "x'y"] };
    const reset = [check('file', 'true', null, 'echo "resets $WEFT_ILL_GPUS"')];
    const said = spawnSync('sh', ['-c', repairScript({ goals: reset }, ills)], {
      encoding: 'utf8',
    });
    assert.match(said.stdout, /^resets 0000:01:00\.0,x'y$/m);
    const mended = run(['file']);
    assert.equal(mended.status, 0, mended.stdout + mended.stderr);
    assert.equal(existsSync(other), false, 'what was fine is left alone');
    // One that mends its own goal and breaks another's.
    const worse = [
      check('file', `cat ${file}`, 'no', `echo no > ${file}; rm -f ${other}`),
      check('other', `test -e ${other}`),
    ];
    writeFileSync(other, '');
    const ended = spawnSync('sh', [
      '-c',
      repairScript({ goals: worse }, { unmet: ['file'], illGpus: [] }),
    ]);
    assert.equal(ended.status, 1, 'the node stays out of service');
    assert.match(String(ended.stdout), /weft-goal: other still differs/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
