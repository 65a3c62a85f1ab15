// Layouts compared loosely: what a font moves is the same page, what a mistake moves is not.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differences } from '../../../e2e/support/page-layout.ts';

const box = (name: string, ...place: number[]) => ({ name, place });

test('a page is the same a little further down, and another with something missing or aside', () => {
  const approved = [box('h1 Jobs', 12, 60, 200, 24), box('table Jobs', 12, 180, 1256, 600)];
  const lower = [box('h1 Jobs', 12, 64, 220, 28), box('table Jobs', 12, 232, 1256, 560)];
  assert.deepEqual(differences(approved, lower), []);
  const aside = [box('h1 Jobs', 12, 60, 200, 24), box('table Jobs', 500, 180, 768, 600)];
  assert.deepEqual(differences(approved, aside), [
    'table Jobs at 500 180 768 600, approved 12 180 1256 600',
  ]);
  assert.match(differences(approved, approved.slice(1))[0] ?? '', /^gone: h1 Jobs; new: none/);
});
