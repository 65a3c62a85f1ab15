// The files of the repository as the tools see them: everything but what is installed or built.

import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

/** The top of the repository. */
export const ROOT = path.resolve(import.meta.dirname, '..');

const SKIPPED = new Set(['node_modules', 'dist', '.build', '.git', 'coverage']);

/** Paths of all files below a folder, from the top of the repository, sorted. */
export function filesBelow(folder: string, suffix = ''): string[] {
  const start = path.join(ROOT, folder);
  if (!existsSync(start)) return [];
  return readdirSync(start, { withFileTypes: true })
    .filter((entry) => !SKIPPED.has(entry.name))
    .flatMap((entry) => {
      const child = path.join(folder, entry.name);
      if (entry.isDirectory()) return filesBelow(child, suffix);
      return entry.isFile() && child.endsWith(suffix) ? [child] : [];
    })
    .sort();
}
