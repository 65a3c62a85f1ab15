// The threat model's list of what root starts has every place in the source that starts a program.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { filesBelow, ROOT } from '../../tools/tree.ts';

const PAGE = 'docs/threat-model.md';
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

/** Node's own ways, by whatever name they are imported, and the port that stands before them. */
const STARTS: readonly RegExp[] = [
  /^import (?!type\b)[^;]*from '(?:node:)?child_process'/m,
  /(?:getBuiltinModule|require|import)\('(?:node:)?child_process'\)/,
  /[cC]ommands\.run\(/,
  /\bprocess\.execve\(/,
  /from '(?:node:)?cluster'/,
];
/** A program that is named where it is started. */
const NAMED: readonly RegExp[] = [
  /(?:\b(?:spawn|execFile|run|output|lines)\(|argv: \[)\s*'([\w./-]+)'/g,
  /^ {2}\['([\w./-]+)', '-/gm,
];

/** Files that start something. */
function starters(): string[] {
  return filesBelow('src', '.ts').filter((file) => STARTS.some((way) => way.test(read(file))));
}

function programsIn(file: string): string[] {
  const text = read(file);
  return NAMED.flatMap((pattern) =>
    [...text.matchAll(pattern)].map(([, name = '']) => path.basename(name)),
  );
}

function listed(): string {
  const [, list = ''] = read(PAGE).split('## What root starts\n');
  return list.split('\n## ')[0] ?? '';
}

test('[E2] the threat model lists each file that starts a program', () => {
  const inList = [...listed().matchAll(/`(src\/[^`]+\.ts)`/g)].map(([, file = '']) => file);
  assert.ok(inList.length > 20, 'the list was found');
  const found = starters();
  const unlisted = found.filter((file) => !inList.includes(file));
  const remedy = `add program, user and variables to "What root starts" of ${PAGE}`;
  assert.deepEqual(unlisted, [], remedy);
  const idle = inList.filter((file) => !existsSync(path.join(ROOT, file)) || !found.includes(file));
  assert.deepEqual(idle, [], `these start nothing: take them out of ${PAGE}`);
});

test('[E2] the list of what root starts names each program', () => {
  const [table = '', others = ''] = listed().split('Other programs are started by');
  for (const file of starters().filter((one) => !others.includes(one))) {
    for (const program of programsIn(file)) {
      const isNamed = new RegExp(`\`(?:/[\\w/]*/)?${program}\\b`).test(table);
      assert.ok(isNamed, `${file} starts '${program}', which ${PAGE} does not name`);
    }
  }
});
