// What a job of a batch leaves outside of its save folder: by names and times, and in words.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import {
  namesBefore,
  OutsideCount,
  outsideWords,
} from '../../../../../src/kernel/files/outside.ts';
import { batchOf, Node } from './task-node.ts';

const BEFORE = { names: namesBefore('/w/job.sh\n/w/input\n/w/case\n'), atNs: 1000n };

function sumOf(...files: readonly (readonly [path: string, at?: bigint, made?: bigint])[]) {
  const count = new OutsideCount(BEFORE);
  for (const [name, modifiedNs = 5n, madeNs = modifiedNs] of files) {
    count.add(name, 1024, { modifiedNs, madeNs });
  }
  return count.sum;
}

test('[B13] what is new or changed outside of the save folder counts', () => {
  assert.equal(sumOf(['job.sh'], ['input/mesh', 1000n], ['case/a', 999n, 0n]), undefined);
  const ours = [
    '_weft/begun',
    '.weft_build.log',
    'distribute_save/x',
    '__pycache__/a.pyc',
  ] as const;
  assert.equal(sumOf(...ours.map((name) => [name, 2000n] as const)), undefined);
  assert.deepEqual(sumOf(['case/a', 1001n], ['job.sh', 5n, 1001n], ['old.tar/x']), {
    files: 3,
    bytes: 3072,
    names: ['case/', 'job.sh', 'old.tar/'],
  });
  assert.deepEqual(sumOf(['a/1'], ['a/2'], ['b\u001b[1m'], ['c'], ['d'])?.names, [
    'a/',
    'b[1m',
    'c',
  ]);
});

test('[B13] what has been copied into the save folder is kept, and is not said to be lost', () => {
  const count = new OutsideCount(BEFORE);
  const at = (modifiedNs: bigint) => ({ modifiedNs, madeNs: modifiedNs });
  count.keep('distribute_save/energy.csv', 10, at(2000n));
  count.add('energy.csv', 10, at(2000n));
  count.add('fields/0.vtk', 20, at(1500n));
  count.add('fields/1.vtk', 20, at(1500n));
  count.keep('distribute_save/all/0.vtk', 20, at(1600n));
  // Of another size, and older than what would be its original.
  count.add('log', 5, at(2000n));
  count.keep('distribute_save/log', 6, at(2001n));
  count.add('state', 5, at(2001n));
  count.keep('distribute_save/state', 5, at(2000n));
  assert.deepEqual(count.sum, { files: 3, bytes: 30, names: ['fields/', 'log', 'state'] });
});

test('[B13] its end says so in words', () => {
  assert.equal(
    outsideWords({ files: 1, bytes: 20, names: ['run.log'] }),
    'not kept, as outside distribute_save/: run.log (1 file, 20 bytes)',
  );
  assert.equal(
    outsideWords({ files: 12, bytes: 3_565_158, names: ['a', 'b/', 'c'] }),
    'not kept, as outside distribute_save/: a, b/, c … (12 files, 3.4M)',
  );
});

test('[B13] the script writes down what was there when its job began', (t) => {
  const node = new Node(t);
  const files = { 'shared/a': '', 'program/job.sh': '#!/bin/sh\ntouch result .hidden\n' };
  const work = node.task('t', files);
  writeFileSync(path.join(work, '.rc'), '');
  assert.equal(node.run(work, batchOf({})).status, 0);
  const names = namesBefore(readFileSync(path.join(work, '_weft/begun'), 'utf8'));
  for (const name of ['input', 'distribute_save', 'job.sh', '.rc'])
    assert.ok(names.has(name), name);
  for (const name of ['result', '.hidden']) assert.ok(!names.has(name), name);
});
