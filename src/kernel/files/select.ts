// Which files of an archive are fetched: regular expressions and patterns on relative paths.
// Folders come along always, unless they are not wanted, so that empty ones are not lost.

import { err, ok, type Result } from '../base/result.ts';
import { type Glob, matchesGlobs, parseGlob } from './glob.ts';

/** Patterns as somebody typed them. */
export interface SelectionOptions {
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly globs?: readonly string[];
  readonly skipFolders?: boolean;
}

export interface Selection {
  readonly include: readonly RegExp[];
  readonly exclude: readonly RegExp[];
  readonly globs: readonly Glob[];
  readonly skipFolders: boolean;
}

/** What a choice is made among: an entry of a manifest is one. */
export interface Choosable {
  /** Relative to the folder of the job. */
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link';
  /** Bytes of a file. */
  readonly size: number;
}

export interface Selected<Entry extends Choosable> {
  readonly taken: readonly Entry[];
  readonly left: readonly Entry[];
  /** Sizes of the files that are taken, and of those that are not. */
  readonly takenBytes: number;
  readonly leftBytes: number;
}

/** Reads the patterns; the error names every one that is wrong. */
export function readSelection(wish: SelectionOptions): Result<Selection, readonly string[]> {
  const wrong: string[] = [];
  const read = <T>(texts: readonly string[] = [], flag: string, one: Reader<T>): T[] => {
    return texts.flatMap((text) => {
      const found = one(text);
      if (found.ok) return [found.value];
      wrong.push(`${flag} '${text}': ${found.error}`);
      return [];
    });
  };
  const selection: Selection = {
    include: read(wish.include, '--include', parseExpression),
    exclude: read(wish.exclude, '--exclude', parseExpression),
    globs: read(wish.globs, '--glob', parseGlob),
    skipFolders: wish.skipFolders ?? false,
  };
  return wrong.length > 0 ? err(wrong) : ok(selection);
}

/**
 * A file is taken when one of `include` and the globs want it, where there are any, and no
 * `exclude` forbids it.
 */
export function select<Entry extends Choosable>(
  entries: readonly Entry[],
  selection: Selection,
): Selected<Entry> {
  const taken: Entry[] = [];
  const left: Entry[] = [];
  for (const entry of entries) (isTaken(entry, selection) ? taken : left).push(entry);
  return { taken, left, takenBytes: bytesOf(taken), leftBytes: bytesOf(left) };
}

type Reader<T> = (text: string) => Result<T, string>;

function isTaken({ path, kind }: Choosable, selection: Selection): boolean {
  const { include, exclude, globs, skipFolders } = selection;
  if (kind === 'folder') return !skipFolders;
  const matches = (expressions: readonly RegExp[]) => expressions.some((one) => one.test(path));
  if (include.length > 0 && !matches(include)) return false;
  return !matches(exclude) && matchesGlobs(globs, path);
}

/** `(?i)` in front, as the seed's language has it, makes capitals count for nothing. */
function parseExpression(text: string): Result<RegExp, string> {
  const isLoose = text.startsWith('(?i)');
  try {
    return ok(new RegExp(isLoose ? text.slice(4) : text, isLoose ? 'iu' : 'u'));
  } catch (error) {
    const { message } = error as Error;
    return err(message.replace(/^Invalid regular expression: \/.*\/\w*: /s, '').toLowerCase());
  }
}

function bytesOf(entries: readonly Choosable[]): number {
  return entries.reduce((sum, { kind, size }) => sum + (kind === 'file' ? size : 0), 0);
}
