// Files handed to the browser: one, or several as one tar file.

import { HeadError, send } from '../../data/client.ts';
import { visible } from '../../pure/log-text.ts';
import { tarEnd, tarHeader, tarPadding } from '../../pure/tar.ts';
import { sizeWords, some } from '../../pure/words.ts';
import type { Entry } from './preview.tsx';

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
export async function saveFiles(files: readonly Entry[], name: string): Promise<string> {
  const [first] = files;
  if (first !== undefined && files.length === 1) {
    save(await contentOf(first), first.path.split('/').at(-1) ?? 'file');
    return `${visible(first.path)} is downloaded.`;
  }
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > TOGETHER_BYTES_MAX) {
    const most = sizeWords(TOGETHER_BYTES_MAX);
    throw new HeadError({
      ...{ code: 'page.too_much', kind: 'invalid_argument' },
      message: `That is ${sizeWords(bytes)}; a browser fetches ${most} at once.`,
      hint: 'Choose less, or use the command beside the title.',
    });
  }
  save(await tarOf(files), `${name}.tar`);
  return `${some(files.length, 'file')} with ${sizeWords(bytes)} are downloaded as ${name}.tar.`;
}

async function tarOf(files: readonly Entry[]): Promise<Blob> {
  const contents: Blob[] = [];
  const left = [...files.entries()];
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      contents[next[0]] = await contentOf(next[1]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const parts = files.flatMap(({ path }, at): BlobPart[] => {
    const content = contents[at] as Blob;
    return [tarHeader(path, content.size), content, tarPadding(content.size)];
  });
  return new Blob([...parts, tarEnd()], { type: 'application/x-tar' });
}

async function contentOf({ sha256 = '' }: Entry): Promise<Blob> {
  const response = await send('readBlob', { params: { hash: sha256 } });
  return response.blob();
}
