// YAML that the documents show is read by what reads it in earnest.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { parseConfig } from '../../../src/kernel/config/read-file.ts';
import { schemaOf } from '../../../src/kernel/config/schema.ts';
import { parseClientFile } from '../../../src/kernel/connect/client-file.ts';
import { readBatch } from '../../../src/wings/batches/batch/read/read-batch.ts';
import { parseGoals } from '../../../src/wings/goals/config/read-goals.ts';
import { parseFilters } from '../../../src/wings/sites/config/read-filters.ts';
import { WINGS } from '../../../src/wings.ts';
import { filesBelow, ROOT } from '../../../tools/tree.ts';

const SCHEMA = await schemaOf(WINGS);

const folder = mkdtempSync(path.join(tmpdir(), 'weft-documents-'));
after(() => rmSync(folder, { recursive: true }));

interface Shown {
  readonly page: string;
  readonly line: number;
  readonly text: string;
}

const BLOCK = /^```yaml\n(?<text>[\s\S]*?)^```$/gm;

const blocks = ['README.md', ...filesBelow('docs', '.md')].flatMap((page): Shown[] => {
  const whole = readFileSync(path.join(ROOT, page), 'utf8');
  return [...whole.matchAll(BLOCK)].map((found) => {
    const line = whole.slice(0, found.index).split('\n').length;
    return { page, line, text: found.groups?.['text'] ?? '' };
  });
});

type Kind = 'filters' | 'goals' | 'client' | 'batch' | 'config';

/** By the file's name in its first line, or by what only a batch has; the rest is of weft.yaml. */
function kindOf(text: string): Kind {
  if (text.startsWith('# filters.yaml\n')) return 'filters';
  if (text.startsWith('# goals.yaml\n')) return 'goals';
  if (text.startsWith('# client.yaml\n')) return 'client';
  return /^jobs:/m.test(text) ? 'batch' : 'config';
}

const PROBLEMS: Readonly<Record<Kind, (text: string, name: string) => readonly unknown[]>> = {
  filters: (text, name) => parseFilters(text, name).problems,
  goals: (text, name) => parseGoals(text, name).problems,
  client: clientProblems,
  batch: batchProblems,
  config: (text, name) => parseConfig(text, name, SCHEMA).problems,
};

/** Throws what is wrong. */
function clientProblems(text: string, name: string): readonly unknown[] {
  parseClientFile(text, name);
  return [];
}

/** With the files that the page's batch names. */
function batchProblems(text: string): readonly unknown[] {
  mkdirSync(path.join(folder, 'grids'));
  for (const name of [
    'build.py',
    'job.py',
    'plot.py',
    'mesh.h5',
    'base.json',
    'grids/a.dat',
    'grids/b.dat',
  ]) {
    writeFileSync(path.join(folder, name), '');
  }
  const file = path.join(folder, 'batch.yaml');
  writeFileSync(file, text);
  readBatch(file);
  return [];
}

for (const { page, line, text } of blocks) {
  test(`${page}:${line} is a file that can be read`, () => {
    assert.deepEqual(PROBLEMS[kindOf(text)](text, `${page}:${line}`), []);
  });
}

test('there are blocks of each kind', () => {
  const kinds = new Set(blocks.map(({ text }) => kindOf(text)));
  assert.deepEqual([...kinds].sort(), Object.keys(PROBLEMS).sort());
});
