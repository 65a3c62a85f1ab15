// `distribute pull`: the seed's words and flags over the outputs of a batch.

import assert from 'node:assert/strict';
import { hash as hashOf } from 'node:crypto';
import { test } from 'node:test';
import type { BatchJobView } from '../../../../../src/wings/batches/api/batches.ts';
import { makeFolder } from '../../../../support/folder.ts';
import { type Answers, FakeHead } from '../../../kernel/cli/fake-head.ts';
import { typed } from './typed.ts';

const job = (name: string, id: string): BatchJobView => ({
  name,
  number: 0,
  id,
  state: 'done',
  outcome: 'completed',
  detail: null,
  epoch: 1,
  nodes: ['n1'],
  startedAt: 1,
  endedAt: 2,
  exit: { code: 0 },
});

const FILES = {
  'distribute-jobs.yaml': `meta: {namespace: lab, batch_name: heat, capabilities: []}
python:
  initialize: {build_file: build.py}
  jobs: [{name: re1, file: job.py}, {name: re2, file: job.py}]
`,
  'build.py': '',
  'job.py': '',
};

/** Two jobs, each with two files and a folder. */
function answers(): Answers {
  const made = { mode: 0o644, modifiedAt: 0 };
  const file = (path: string) => ({
    path: `distribute_save/${path}`,
    kind: 'file',
    size: 1,
    ...made,
    sha256: hashOf('sha256', 'x'),
  });
  const folder = { path: 'distribute_save/empty', kind: 'folder', size: 0, ...made };
  const entries = [file('a.csv'), file('b.tmp'), folder];
  const manifest = { entries, isPartial: false, outcome: 'completed', missing: [] };
  return {
    'GET /v1/batches/lab/heat': () => ({ json: { namespace: 'lab', name: 'heat', version: 1 } }),
    'GET /v1/batches/lab/heat/jobs': () => ({
      json: { jobs: [job('re1', '7[0]'), job('re2', '7[1]')], next: null },
    }),
    'GET /v1/batches/lab/heat/builds': () => ({ json: { logs: [] } }),
    'GET /v1/jobs/7': () => ({ json: { id: 7, taskCount: 2, taskCounts: { done: 2 } } }),
    'GET /v1/jobs/7/outputs': () => ({
      json: { tasks: [{ index: 0 }, { index: 1 }], next: null },
    }),
    'GET /v1/jobs/7/outputs/0': () => ({ json: { ...manifest, index: 0 } }),
    'GET /v1/jobs/7/outputs/1': () => ({ json: { ...manifest, index: 1 } }),
  };
}

test('pull chooses by patterns on JOB/path, with or without the word before them', async (context) => {
  await using head = await FakeHead.start(answers());
  const cwd = makeFolder(context, FILES);
  const listed = async (...argv: string[]) => {
    const { code, out, error } = await typed(head, cwd, 'pull', '--dry', '-s', ...argv);
    assert.equal(code, 0, error);
    return out
      .trimEnd()
      .split('\n')
      .map((line) => line.trim().split(/ +/).at(-1))
      .slice(1)
      .join(' ');
  };
  const all = 'lab/heat/re1/a.csv lab/heat/re1/b.tmp lab/heat/re2/a.csv lab/heat/re2/b.tmp';
  assert.equal(await listed(), all);
  assert.equal(await listed('--ip', '127.0.0.1', 'distribute-jobs.yaml'), all);
  const csv = 'lab/heat/re1/a.csv lab/heat/re2/a.csv';
  assert.equal(await listed('include', '-i', 'csv$'), csv);
  assert.equal(await listed('distribute-jobs.yaml', 'exclude', '--exclude', 'tmp$'), csv);
  assert.equal(await listed('-i', '^re1/', '-e', 'tmp'), 'lab/heat/re1/a.csv');
  assert.equal(await listed('-i', 'csv', '-i', '^re2/b'), `${csv} lab/heat/re2/b.tmp`);
});

test('pull lists folders too, unless -s, which is --skip-folders, says otherwise', async (context) => {
  await using head = await FakeHead.start(answers());
  const cwd = makeFolder(context, FILES);
  const { out } = await typed(head, cwd, 'pull', '-d', '-i', 'csv', '--save-dir', 'out');
  assert.match(out, /out\/lab\/heat\/re2\/empty/);
  const none = await typed(head, cwd, 'pull', '-i', 'nomatch', '--save-dir', 'out');
  assert.equal(none.out, 'No file matches: only folders are in 2 folders.\n');
});

test('pull refuses words and patterns that do not agree, and a wrong pattern', async (context) => {
  await using head = await FakeHead.start(answers());
  const cwd = makeFolder(context, FILES);
  const refused = async (...argv: string[]) => {
    const { code, error } = await typed(head, cwd, 'pull', ...argv);
    assert.equal(code, 2, error);
    return error;
  };
  assert.match(await refused('include', '-e', 'x'), /include: give at least one --include REGEX/);
  assert.match(await refused('-i', '('), /--include '\(': /);
  // The seed's two flags of one letter: a folder behind -s is taken for the file.
  assert.match(await refused('-s', 'out', 'distribute-jobs.yaml'), /--save-dir names a folder/);
  assert.deepEqual(head.work, []);
});

test('pull brings what the builds have printed, chosen by the same patterns', async (context) => {
  const log = { size: 1, modifiedAt: 0, sha256: hashOf('sha256', 'x') };
  const logs = ['lab1', 'lab2'].map((node) => ({ node, ...log }));
  await using head = await FakeHead.start({
    ...answers(),
    'GET /v1/batches/lab/heat/builds': () => ({ json: { logs } }),
  });
  const cwd = makeFolder(context, FILES);
  const { out } = await typed(head, cwd, 'pull', '--dry', '-s', '-e', 'tmp$', '-e', '^re2');
  const shown = out.trimEnd().split('\n').slice(1);
  assert.deepEqual(
    shown.map((line) => line.trim().split(/ +/).at(-1)),
    ['lab/heat/re1/a.csv', 'lab/heat/_build/lab1.log', 'lab/heat/_build/lab2.log'],
  );
  const one = await head.weft(
    'batch',
    'pull',
    'lab/heat',
    '--job',
    're1',
    '--dry-run',
    '-o',
    'name',
  );
  assert.doesNotMatch(one.out, /_build/, 'one job is one job');
});
