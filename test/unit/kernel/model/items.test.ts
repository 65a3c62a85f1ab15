// Placeholders in the command of a job that has items.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { programFor, unsafePlace, usesItem } from '../../../../src/kernel/model/items.ts';
import type { Item, Program } from '../../../../src/kernel/model/job.ts';

const argv = (...words: string[]): Program => ({ kind: 'argv', argv: words });
const shell = (line: string): Program => ({ kind: 'shell', line });

const ROWS: readonly (readonly [program: Program, item: Item, index: number, made: Program])[] = [
  [argv('cat', '{}'), 'a b.txt', 0, argv('cat', 'a b.txt')],
  [argv('convert', '{}', '{}.png', 'n{n}'), 'x', 7, argv('convert', 'x', 'x.png', 'n7')],
  // A value is one word for the shell, whatever it holds.
  [shell('cat {} | wc'), "it's; rm -rf *", 0, shell("cat 'it'\\''s; rm -rf *' | wc")],
  [shell('echo {n} {}'), '', 12, shell("echo 12 ''")],
  // What is the shell's or awk's own stays.
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's own variable
  [shell('echo ${n} {a,b} {print}'), 'x', 3, shell('echo ${n} {a,b} {print}')],
  [
    argv('sim', '--seed={seed}', '{size}'),
    { seed: '7', size: 'L' },
    0,
    argv('sim', '--seed=7', 'L'),
  ],
  [argv('sim', '{}', '{other}'), { seed: '7' }, 0, argv('sim', '{"seed":"7"}', '{other}')],
  // A field named n hides the number, and what every object has is no field.
  [argv('{n}', '{toString}'), { n: 'own' }, 5, argv('own', '{toString}')],
  // A value that looks like a placeholder is a value.
  [argv('{a}', '{b}'), { a: '{b}', b: '{n}' }, 5, argv('{b}', '{n}')],
];

test('each task of a list has its item in place of the placeholders', () => {
  for (const [program, item, index, made] of ROWS) {
    assert.deepEqual(programFor(program, item, index), made);
  }
});

test("a script's text is its own, its arguments are filled in", () => {
  const program = { kind: 'script', text: 'echo {}', args: ['{}'] } as const;
  const made = programFor(program, 'x', 0);
  assert.deepEqual(made, { kind: 'script', text: 'echo {}', args: ['x'] });
});

test('a placeholder where a value could not stay one word is found', () => {
  for (const line of [
    `echo "{}"`,
    `echo '{}'`,
    'echo `x {}`',
    'cat <<E\n{}\nE',
    'echo $(( {} ))',
  ]) {
    assert.equal(unsafePlace(line, 'x'), '{}', line);
  }
  for (const line of [
    'echo {}',
    `awk '{print}' {}`,
    `echo "a" {} 'b'`,
    `echo \\" {}`,
    'echo $(cat {})',
  ]) {
    assert.equal(unsafePlace(line, 'x'), null, line);
  }
});

test('the number alone is no use of the item', () => {
  assert.equal(usesItem(argv('echo', '{n}'), 'x'), false);
  assert.equal(usesItem(argv('echo', '{}'), 'x'), true);
  assert.equal(usesItem(argv('echo', '{seed}'), 'x'), false);
  assert.equal(usesItem(argv('echo', '{seed}'), { seed: '1' }), true);
});
