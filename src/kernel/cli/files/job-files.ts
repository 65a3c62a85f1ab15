// What travels with a job and what is to be kept of it, for whoever looks at the job.

import type { JobDetail } from '../../api/jobs.ts';
import { plural } from '../../base/plural.ts';
import type { Result } from '../../base/result.ts';
import { quoteWord } from '../../base/shell-word.ts';
import { formatBytes } from '../../base/size.ts';
import type { Api } from '../../connect/api.ts';
import type { FileEntry } from '../../files/entry.ts';
import { type FileSet, parseFileSet } from '../../files/file-set.ts';
import { Failure } from '../../model/failure.ts';
import type { Titled } from '../output/one.ts';

const NAMES_SHOWN = 3;

/** Lines of a job in a directory of its own. */
export async function fileLines(api: Api, job: JobDetail): Promise<Titled[]> {
  if (job.directory !== null) return [];
  const { inputs = null, outputs = null } = job.staging ?? {};
  return [
    ['Input', inputs === null ? '' : await inputLine(api, inputs, job.owner)],
    ['Keeps', outputs === null ? '' : outputs.map(quoteWord).join(' ') || 'nothing'],
  ];
}

/** The list is its owner's: others are told that there is one. */
async function inputLine(api: Api, hash: string, owner: string): Promise<string> {
  try {
    const list = await readFileSet(api, hash);
    return list.ok ? entryWords(list.value.common) : list.error;
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'blob.not_found') throw error;
    return `files of ${owner}`;
  }
}

/** The list of this hash; the error says what is wrong with it. */
export async function readFileSet(api: Api, hash: string): Promise<Result<FileSet, string>> {
  const pieces: Uint8Array[] = [];
  const answer = await api.stream('readBlob', { params: { hash } });
  for await (const piece of answer) pieces.push(piece as Uint8Array);
  return parseFileSet(Buffer.concat(pieces).toString());
}

/** `3 files with 1.2G: data.csv, mesh/ and 2 more`. */
function entryWords(entries: readonly FileEntry[]): string {
  const files = entries.filter(({ kind }) => kind === 'file');
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const top = [...new Set(entries.map(topOf))];
  const names = top.slice(0, NAMES_SHOWN).join(', ');
  const more = top.length > NAMES_SHOWN ? ` and ${top.length - NAMES_SHOWN} more` : '';
  return `${plural(files.length, 'file')} with ${formatBytes(bytes)}: ${names}${more}`;
}

function topOf({ path, kind }: FileEntry): string {
  const at = path.indexOf('/');
  if (at !== -1) return path.slice(0, at + 1);
  return kind === 'folder' ? `${path}/` : path;
}
