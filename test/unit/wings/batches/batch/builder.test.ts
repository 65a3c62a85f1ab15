// `weft/batch`: what a program describes is what is read from the file that it writes.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { readBatch } from '../../../../../src/wings/batches/batch/read/read-batch.ts';
import {
  type Batch,
  BatchError,
  defineBatch,
  writeBatch,
} from '../../../../../src/wings/batches/sdk/batch.ts';
import { ROOT } from '../../../../../tools/tree.ts';
import { makeFolder } from '../../../../support/folder.ts';

const BATCH: Batch = {
  namespace: 'lab',
  name: 'null',
  solver: { build: 'build.py' },
  sweep: { re: [100, 200], mesh: ['a', 'yes'] },
  jobs: [{ run: 'job.py', args: ['--re', '{{re}}', 'true', '007', ' x: #y'] }],
};

test('what is written is read as it was meant', (context) => {
  const folder = makeFolder(context, { 'build.py': '', 'job.py': '' });
  const file = path.join(folder, 'weft.batch.yaml');
  writeBatch(BATCH, file);
  const { batch } = readBatch(file);
  assert.equal(batch.name, 'null');
  assert.deepEqual(
    batch.jobs.map(({ name }) => name),
    ['re100-a', 're100-yes', 're200-a', 're200-yes'],
  );
  assert.deepEqual(batch.jobs[0]?.args, ['--re', '100', 'true', '007', ' x: #y']);
});

test('all mistakes are told at once, and nothing is written', (context) => {
  const file = path.join(makeFolder(context, {}), 'weft.batch.yaml');
  const wrong = { ...BATCH, name: 'a/b', nam: 1, defaults: { memory: 2 }, outputs: 'x' };
  const before = JSON.stringify(wrong);
  assert.throws(
    () => writeBatch(wrong as unknown as Batch, file),
    (error) => {
      assert.ok(error instanceof BatchError);
      assert.deepEqual(error.problems.map(({ place }) => place).sort(), [
        ...['defaults.memory', 'nam', 'name', 'outputs'],
      ]);
      return /name: 'a\/b' has a separator/.test(error.message);
    },
  );
  assert.equal(JSON.stringify(wrong), before, 'what was given is not touched');
  assert.ok(!existsSync(file));
  assert.equal(defineBatch(BATCH), BATCH);
});

test('the package has it under weft/batch', () => {
  const { exports } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, unknown>>;
  };
  assert.deepEqual(exports['./batch'], {
    types: './dist/wings/batches/sdk/batch.d.ts',
    default: './dist/wings/batches/sdk/batch.js',
  });
  assert.ok(existsSync(path.join(ROOT, 'src/wings/batches/sdk/batch.ts')));
});
