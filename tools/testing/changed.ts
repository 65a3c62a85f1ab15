// Which tests a change can have broken: those that import, however far down, a file that differs
// from the branch it came from.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { importsOf, targetOf } from '../tidy/imports.ts';
import { readSource } from '../tidy/source.ts';
import { ROOT } from '../tree.ts';

/** Files that differ from where this branch left `base`, committed or not, new ones included. */
export function changedSince(base: string): Set<string> {
  const fork = git('merge-base', 'HEAD', base).trim();
  const listed = [
    git('diff', '--name-only', '--no-renames', fork),
    git('ls-files', '--others', '--exclude-standard'),
  ];
  return new Set(listed.flatMap((text) => text.split('\n')).filter((file) => file !== ''));
}

function git(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args.join(' ')} failed: ${stderr.trim()}`);
  return stdout;
}

/** Reads a file of the repository; undefined when there is none. */
export type Read = (file: string) => string | undefined;

/** The test files that are in the change or import something that is. */
export function affectedTests(
  tests: readonly string[],
  changed: ReadonlySet<string>,
  read: Read = readFile,
): string[] {
  const imports = new Map<string, readonly string[]>();
  const importsFrom = (file: string): readonly string[] => {
    const known = imports.get(file);
    if (known) return known;
    const found = targetsOf(file, read);
    imports.set(file, found);
    return found;
  };
  return tests.filter((test) => reaches(test, changed, importsFrom));
}

function reaches(
  test: string,
  changed: ReadonlySet<string>,
  importsFrom: (file: string) => readonly string[],
): boolean {
  const seen = new Set([test]);
  for (const file of seen) {
    if (changed.has(file)) return true;
    for (const target of importsFrom(file)) seen.add(target);
  }
  return false;
}

function targetsOf(file: string, read: Read): string[] {
  const text = file.endsWith('.ts') ? read(file) : undefined;
  if (text === undefined) return [];
  const source = readSource(file, text);
  return importsOf(source).flatMap(({ specifier }) => targetOf(source, specifier) ?? []);
}

function readFile(file: string): string | undefined {
  try {
    return readFileSync(path.join(ROOT, file), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
