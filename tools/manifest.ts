// What the package says of itself, and the libraries that it needs.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './tree.ts';

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
}

/** Names of the libraries that are installed with the package. */
export function libraries(): string[] {
  return Object.keys((JSON.parse(read('package.json')) as Manifest).dependencies);
}

/** Those that these files, from the top of the repository, belong to; each once. */
export function librariesIn(files: readonly string[]): string[] {
  const names = files.map((file) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}

/** The text under which a library may be part of a file of ours. */
export function licenceOf(library: string): string {
  const folder = path.join(ROOT, 'node_modules', library);
  const file = readdirSync(folder).find((name) => /^licen[cs]e(?:\.md|\.txt)?$/i.test(name));
  if (file === undefined) throw new Error(`${folder} has no licence`);
  return readFileSync(path.join(folder, file), 'utf8');
}

function read(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8');
}
