// The list of what a backup has, `files.jsonl`: a line of JSON for each entry, in the order in
// which they are put back. A folder comes before what is in it.

import { z } from 'zod';
import { count } from '../../../kernel/api/common.ts';
import { err, ok, type Result } from '../../../kernel/base/result.ts';

/** Below the backup's folder `head`, with `/`. One that leads elsewhere is put back nowhere. */
export const inside = z
  .string()
  .refine((path) => !path.split('/').some(isOdd) && !path.includes('\0'), {
    error: 'a path that stays inside its folder',
  });

const isOdd = (part: string): boolean => part === '' || part === '.' || part === '..';

export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** Permission bits. */
const mode = z.int().min(0).max(0o777);

const file = z.strictObject({
  kind: z.literal('file'),
  path: inside,
  bytes: count,
  mtimeMs: z.number(),
  mode,
  sha256,
  /** An earlier path of the same file: one is a hard link to the other. */
  same: inside.optional(),
});

export const backedUp = z.discriminatedUnion('kind', [
  file,
  /** A symbolic link, with where it leads as it says itself. */
  z.strictObject({ kind: z.literal('link'), path: inside, target: z.string().min(1) }),
  /** Listed because it may be empty. */
  z.strictObject({ kind: z.literal('folder'), path: inside, mode }),
]);
export type BackedUp = z.infer<typeof backedUp>;
export type BackedUpFile = z.infer<typeof file>;

/** The error says in which line something is wrong. */
export function parseEntries(text: string): Result<BackedUp[], string> {
  const entries: BackedUp[] = [];
  const folders = new Set(['']);
  const paths = new Set<string>();
  for (const [index, line] of text.split('\n').entries()) {
    if (line === '') continue;
    const entry = backedUp.safeParse(parseJson(line));
    if (!entry.success) return err(`line ${index + 1} is not an entry of a backup`);
    const { path, kind } = entry.data;
    // Each is in a folder that came before, never behind a link, and there once.
    if (!folders.has(path.slice(0, Math.max(0, path.lastIndexOf('/')))) || paths.has(path)) {
      return err(`line ${index + 1} is not in a folder of the backup`);
    }
    paths.add(path);
    if (kind === 'folder') folders.add(path);
    entries.push(entry.data);
  }
  return ok(entries);
}

/** Undefined: it is no JSON, and so no entry. */
function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
