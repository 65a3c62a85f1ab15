// The table of job options: no two rows are mistaken for each other, and types read what they
// promise.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ok } from '../../../../../src/kernel/base/result.ts';
import { COUNTED } from '../../../../../src/kernel/model/options/counted.ts';
import {
  attributeOf,
  FIELD_ROWS,
  flagOf,
  HELP_GROUPS,
  ROWS,
} from '../../../../../src/kernel/model/options/table.ts';
import {
  choice,
  FLAG,
  INSTANT,
  line,
  SIZE,
  separated,
  several,
  WALLTIME,
  whole,
} from '../../../../../src/kernel/model/options/types.ts';

const READING = { instant: (text: string) => ok(text.length) };

test('no two options have one flag, one short form, or one field', () => {
  const shorts = ROWS.flatMap(({ flags }) => /^-\w(?=,)/.exec(flags) ?? []);
  for (const names of [
    ROWS.map(flagOf),
    ROWS.map(attributeOf),
    FIELD_ROWS.map((row) => row.field),
    shorts,
  ]) {
    assert.deepEqual(
      names.filter((name, at) => names.indexOf(name) < at),
      [],
    );
  }
});

test('every option is in one part of the help, and a field has a type', () => {
  const inHelp = HELP_GROUPS.flatMap(([, rows]) => Object.keys(rows));
  assert.deepEqual(
    inHelp,
    ROWS.map(({ name }) => name),
  );
  for (const row of ROWS) assert.equal(row.field === undefined, row.type === undefined, row.name);
});

test('the name that commander gives an option is found in its flags', () => {
  const names = ['nodesNamed', 'requeue', 'processes', 'warning'];
  const rows = ROWS.filter(({ name }) => names.includes(name));
  assert.deepEqual(Object.fromEntries(rows.map((row) => [row.name, attributeOf(row)])), {
    nodesNamed: 'nodesNamed',
    requeue: 'requeue',
    processes: 'procs',
    warning: 'signal',
  });
});

test('a type reads what was typed and what a program gives, and says what is wrong', () => {
  const three = whole(1, 3);
  assert.deepEqual(three.parse(['2'], READING), ok(2));
  assert.deepEqual(three.take(3, READING), ok(3));
  assert.match(said(three.parse(['4'], READING)), /'4' is more than 3/);
  assert.match(said(three.take(0.5, READING)), /0\.5 is not a whole number from 1 to 3/);
  assert.match(said(FLAG.take('x' as never, READING)), /'x' is neither true nor false/);
  assert.match(said(choice(['a', 'b']).parse(['c'], READING)), /'c' is not a or b/);
  assert.deepEqual(SIZE.take('1K', READING), ok(1024));
  assert.match(said(SIZE.parse(['7'], READING)), /has no unit/);
  assert.deepEqual(WALLTIME.take('none', READING), ok(null));
  assert.match(said(WALLTIME.take(0, READING)), /the time limit is 0/);
  assert.deepEqual(INSTANT.take(new Date(7), READING), ok(7));
  assert.deepEqual(INSTANT.parse(['+2h'], READING), ok(3));
});

test('a line is counted in the unit that it says, and shows all of itself', () => {
  assert.equal(line(3).flaw('äöü'), null);
  assert.match(line(5, 'bytes').flaw('äöü') ?? '', /has 6 bytes; 5 are the most/);
  assert.match(line(9).flaw('') ?? '', /may not be empty/);
  assert.match(line(9).flaw('a\nb') ?? '', /characters that are not seen/);
});

test('several values are read one by one, and a program may give one alone', () => {
  const numbers = several((text) => ok(Number(text)));
  assert.deepEqual(numbers.parse(['1', '2'], READING), ok([1, 2]));
  assert.deepEqual(numbers.take('7', READING), ok([7]));
  assert.deepEqual(separated((text) => ok(text)).parse(['a, b'], READING), ok(['a', 'b']));
  assert.deepEqual(COUNTED.parse(['lic=2', 'slots=1'], READING), ok({ lic: 2, slots: 1 }));
  assert.match(said(COUNTED.take({ lic: -1 }, READING)), /^lic: -1 is not a whole number/);
});

function said(result: { readonly ok: true } | { readonly ok: false; readonly error: string }) {
  return result.ok ? 'nothing is wrong' : result.error;
}
