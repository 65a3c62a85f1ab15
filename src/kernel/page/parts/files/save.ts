// Files handed to the browser: one, or several as one tar file.

import { HeadError, send } from '../../data/client.ts';
import { visible } from '../../pure/log-text.ts';
import { tarEnd, tarHeader, tarPadding } from '../../pure/tar.ts';
import { together } from '../../pure/together.ts';
import { sizeWords, some } from '../../pure/words.ts';
import type { ArchiveEntry } from './preview.tsx';

/** All of it is in the browser's memory for a moment. */
const TOGETHER_BYTES_MAX = 512 * 2 ** 20;
const AT_ONCE = 4;
const URL_LIVES_MS = 10_000;

/** Hands it to the browser under this name. */
export function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), URL_LIVES_MS);
}

/** Returns words of what came of it. Throws `HeadError`. */
export async function saveFiles(files: readonly ArchiveEntry[], name: string): Promise<string> {
  const [first] = files;
  if (first?.kind === 'file' && files.length === 1) {
    save(
      await contentOf(first, new AbortController().signal),
      first.path.split('/').at(-1) ?? 'file',
    );
    return `${visible(first.path)} is downloaded.`;
  }
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > TOGETHER_BYTES_MAX) {
    const most = sizeWords(TOGETHER_BYTES_MAX);
    throw new HeadError({
      code: 'page.too_much',
      kind: 'invalid_argument',
      message: `That is ${sizeWords(bytes)}; a browser fetches ${most} at once.`,
      hint: 'Choose less, or use the command beside the title.',
    });
  }
  save(await tarOf(files), `${name}.tar`);
  return `${entryWords(files)} with ${sizeWords(bytes)} are downloaded as ${name}.tar.`;
}

/** `3 files`, or `4 entries` where some are folders or links. */
export function entryWords(entries: readonly ArchiveEntry[]): string {
  const isFiles = entries.every(({ kind }) => kind === 'file');
  return isFiles ? some(entries.length, 'file') : some(entries.length, 'entry', 'entries');
}

async function tarOf(entries: readonly ArchiveEntry[]): Promise<Blob> {
  // Links last: nothing is unpacked through one.
  const ordered = [
    ...entries.filter(({ kind }) => kind !== 'link'),
    ...entries.filter(({ kind }) => kind === 'link'),
  ];
  const contents = await together(ordered, AT_ONCE, async (entry, signal) =>
    entry.kind === 'file' ? contentOf(entry, signal) : new Blob([]),
  );
  const parts = ordered.flatMap((entry, at): BlobPart[] => {
    const content = contents[at] as Blob;
    const header = tarHeader({ ...entry, size: content.size });
    return [header, content, tarPadding(content.size)];
  });
  return new Blob([...parts, tarEnd()], { type: 'application/x-tar' });
}

async function contentOf({ path, sha256 = '' }: ArchiveEntry, signal: AbortSignal): Promise<Blob> {
  try {
    const response = await send('readBlob', { params: { hash: sha256 }, signal });
    return await response.blob();
  } catch (cause) {
    if (cause instanceof HeadError) throw cause;
    throw new HeadError({
      code: 'page.broke_off',
      kind: 'unavailable',
      message: `${visible(path)} broke off while it was fetched; nothing is saved.`,
      hint: 'Try again.',
    });
  }
}
