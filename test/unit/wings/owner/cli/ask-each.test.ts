// What is asked of several machines or cards is asked of all of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Context } from '../../../../../src/kernel/cli/context.ts';
import { usage } from '../../../../../src/kernel/model/failure.ts';
import { askEach } from '../../../../../src/wings/owner/cli/ask.ts';

test('[V29] one that refuses keeps none of the others from it, and each refusal is told', async () => {
  const notes: string[] = [];
  const asked: string[] = [];
  const context = { note: (line: string) => void notes.push(line) } as Pick<Context, 'note'>;
  const act = (name: string): Promise<void> => {
    asked.push(name);
    return name === 'c' ? Promise.resolve() : Promise.reject(usage(`${name} does not`));
  };
  await assert.rejects(askEach(context, ['a', 'b', 'c'], act), /a does not/);
  assert.deepEqual([asked, notes], [['a', 'b', 'c'], ['b does not']]);
  await askEach(context, ['c'], act);
  await assert.rejects(
    askEach(context, ['c', 'd'], () => Promise.reject(new Error('a mistake of ours'))),
    /a mistake of ours/,
  );
});
