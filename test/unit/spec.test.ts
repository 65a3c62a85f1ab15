// SPEC.md and the tests agree: every rule is shown by a test, and no test names an unknown rule.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const ROOT = path.join(import.meta.dirname, '..', '..');
const RULE = /^- \*\*([A-Z]\d+)\*\* /gm;
/** A call of `test`, `scenario` or the like whose title begins with rules: `[J7]` or `[J7, S6]`. */
const TITLE = /\b(?:test|it|scenario|suite|describe)\(\s*['"`]\[([A-Z]\d+(?:, ?[A-Z]\d+)*)\]/g;

function rules(): string[] {
  const text = readFileSync(path.join(ROOT, 'SPEC.md'), 'utf8');
  return [...text.matchAll(RULE)].map((match) => match[1] as string);
}

function cited(): Map<string, string> {
  const found = new Map<string, string>();
  for (const file of readdirSync(path.join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.test.ts')) continue;
    const text = readFileSync(path.join(ROOT, 'test', file), 'utf8');
    for (const [, list] of text.matchAll(TITLE)) {
      for (const rule of (list as string).split(/, ?/)) found.set(rule, file);
    }
  }
  return found;
}

test('every rule has one number', () => {
  const all = rules();
  assert.ok(all.length > 30, 'the rules were found');
  assert.equal(new Set(all).size, all.length);
});

test('every rule is shown by a test', () => {
  const shown = cited();
  assert.deepEqual(
    rules().filter((rule) => !shown.has(rule)),
    [],
  );
});

test('no test names a rule that SPEC.md does not have', () => {
  const known = new Set(rules());
  const unknown = [...cited()].filter(([rule]) => !known.has(rule));
  assert.deepEqual(unknown, []);
});
