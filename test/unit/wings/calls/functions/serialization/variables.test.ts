// The values that a call brings for what its function captured, as bytes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packArguments } from '../../../../../../src/wings/calls/functions/serialization/values.ts';
import {
  readBrought,
  splitVariables,
  withVariables,
} from '../../../../../../src/wings/calls/functions/serialization/variables.ts';

const SENT = { name: 'f', expression: '() => a', isStrict: true };

test('values and arguments come back as they were, whatever letters they have', () => {
  const args = packArguments([1, 'ü']).bytes;
  const { variables, args: rest } = readBrought(withVariables(['größer', 0.5, null, true], args));
  assert.deepStrictEqual(variables, ['größer', 0.5, null, true]);
  assert.deepStrictEqual(Buffer.from(rest), args);
});

test('a call without values is its arguments', () => {
  const args = packArguments(['x'.repeat(5000)]).bytes;
  assert.deepStrictEqual(readBrought(args), { variables: null, args });
});

test('bytes that are cut off, or no list, are refused', () => {
  const bytes = withVariables([1], packArguments([]).bytes);
  assert.throws(() => readBrought(bytes.subarray(0, 4)), /cut off|no list/);
  assert.throws(() => readBrought(bytes.subarray(0, 7)), /cut off/);
  bytes.write('1  ', 5);
  assert.throws(() => readBrought(bytes), /no list/);
});

test('a function with more values than a call brings keeps them in its code', () => {
  const names = Array.from({ length: 17 }, (_, at) => `v${at}`);
  const cells = names.map((_, value) => ({ value }));
  assert.equal(splitVariables({ ...SENT, names, cells }), null);
  const few = { ...SENT, names: ['a', 'b'], cells: [{ value: undefined }, { value: 7 }] };
  const split = splitVariables(few);
  assert.deepStrictEqual(split?.variables, [7]);
  assert.deepStrictEqual(split?.sent.cells, [{ value: undefined }, { variable: 0 }]);
});
