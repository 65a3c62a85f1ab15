// The compiler's view of the import table: each folder's tsconfig.json must reference exactly the
// folders of its row that exist, or the compiler would let through what the table forbids.

import path from 'node:path/posix';
import type { Finding } from './finding.ts';
import { folderOf, IMPORTS } from './layers.ts';

/** `read` gives a file's text, undefined when there is none; `hasCode` whether a folder has any. */
export interface Tree {
  read(file: string): string | undefined;
  hasCode(folder: string): boolean;
}

/** Checks the projects of all rows of the table. */
export function checkProjects(tree: Tree): Finding[] {
  return Object.keys(IMPORTS).flatMap((layer) => checkProject(tree, layer));
}

function checkProject(tree: Tree, layer: string): Finding[] {
  const folder = folderOf(layer);
  const file = `${folder}/tsconfig.json`;
  const text = tree.read(file);
  if (text === undefined) {
    return tree.hasCode(folder) ? [error(file, 'is missing; copy a brother and list its row')] : [];
  }
  const expected = (IMPORTS[layer] ?? [])
    .map(folderOf)
    .filter((other) => tree.read(`${other}/tsconfig.json`) !== undefined);
  const actual = referencesOf(text).map((reference) => path.join(folder, reference));
  return [
    ...expected
      .filter((other) => !actual.includes(other))
      .map((other) => error(file, `add a reference to ${other}, as in the import table`)),
    ...actual
      .filter((other) => !expected.includes(other))
      .map((other) =>
        error(file, `remove the reference to ${other}: the import table does not allow it`),
      ),
  ];
}

function referencesOf(text: string): string[] {
  const config = JSON.parse(text) as { references?: { path: string }[] };
  return (config.references ?? []).map((reference) => reference.path);
}

function error(file: string, message: string): Finding {
  return { path: file, line: 1, level: 'error', message };
}
