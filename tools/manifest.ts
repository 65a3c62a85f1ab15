// What the package says of itself, and the libraries that it needs.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './tree.ts';

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
}

/** Names of the libraries that are installed with the package. */
export function libraries(): string[] {
  return Object.keys((JSON.parse(read('package.json')) as Manifest).dependencies);
}

/** The text under which a library may be part of a file of ours. */
export function licenceOf(library: string): string {
  return read(`node_modules/${library}/LICENSE`);
}

function read(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8');
}
