// How gpus are asked for: what is read of each text, and what is said of those that are wrong.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSliceType, parseGpus, parseGpuTypes } from '../../../../src/kernel/model/gpu-wish.ts';

const READ: readonly (readonly [text: string, value: number | string])[] = [
  ['0', 0],
  ['2', 2],
  ['a100:2', 'a100:2'],
  ['A100:2', 'a100:2'],
  ['a100', 'a100:1'],
  ['a100-1g.10g:3', 'a100-1g.10g:3'],
];

const WRONG: readonly (readonly [text: string, message: RegExp])[] = [
  ['', /not a number of gpus; write 2, or a100:2/],
  ['-1', /'-1' is not a number of gpus/],
  ['1.5', /'1.5' is not a number of gpus/],
  ['a100:-1', /not a number of gpus/],
  ['a100:0', /asks for none of it; write 0 for no gpus/],
  ['a100:1.5', /not a number of gpus/],
  ['a100:', /not a number of gpus/],
  [':2', /not a type of gpus/],
  ['2:a100', /not a number of gpus/],
  ['a100:2:3', /not a number of gpus/],
  ['a100-1g.10g:1,a100:1', /not a number of gpus/],
  ['999999999', /more than 100000/],
  ['rtx 4090:1', /not a type of gpus; write it as `weft node show` does/],
];

test('a number of gpus, and a type before it', () => {
  for (const [text, value] of READ) assert.deepEqual(parseGpus(text), { ok: true, value }, text);
  for (const [text, message] of WRONG) {
    const read = parseGpus(text);
    assert.match(read.ok ? `read as ${read.value}` : read.error, message, text);
  }
});

test('types of which any will do', () => {
  const read = (text: string) => {
    const types = parseGpuTypes(text);
    return types.ok ? types.value : types.error;
  };
  assert.deepEqual(read('a100|H100'), ['a100', 'h100']);
  assert.deepEqual(read('a100,a100'), ['a100']);
  assert.deepEqual(read('any'), []);
  assert.match(String(read('a100|')), /not a type/);
  assert.match(String(read(Array.from({ length: 17 }, (_, at) => `a${at}`).join('|'))), /16 are/);
  assert.equal(isSliceType('a100-1g.10g'), true);
  assert.equal(isSliceType('a100-80g'), false);
});
