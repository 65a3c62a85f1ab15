// Brings the files that a job needs to the head: what it lacks is sent, and the list of all of them
// is what the job names.

import { formatSize } from '../../base/size.ts';
import type { FileEntry } from '../../files/entry.ts';
import { type FileSet, formatFileSet } from '../../files/file-set.ts';
import type { BlobHash } from '../../model/blob.ts';
import { usage } from '../../model/failure.ts';
import { FILE_SET_BYTES_MAX } from '../../model/limits.ts';
import { type LocalFile, localBytes } from '../local-file.ts';
import type { TransferContext } from '../transfer-context.ts';
import { uploadFiles } from '../upload.ts';
import { gather } from './gather.ts';
import type { InputRequests } from './input-request.ts';
import { readAll } from './read-all.ts';

/** What goes with a job, hashed. */
export interface InputFiles {
  readonly files: readonly LocalFile[];
  /** The list of them, which the job names. */
  readonly list: LocalFile;
  /** What stands in the list. */
  readonly entries: readonly FileEntry[];
  readonly bytes: number;
  /** Files, folders and links. */
  readonly entryCount: number;
}

export interface Inputs extends InputRequests {
  /** What paths are relative to. */
  readonly cwd: string;
  /** How whoever named them calls them, for messages: `--in: `. */
  readonly before: string;
}

/** Reads all of it. Throws one failure with all that is wrong. */
export async function readInputs(transfer: TransferContext, inputs: Inputs): Promise<InputFiles> {
  const { wishes, program, cwd, before } = inputs;
  const gathered = gather(wishes, { cwd, program, before });
  if (gathered.isProgramAdded) transfer.note(`${program?.path} is sent with the job`);
  const files = await readAll(transfer, gathered, before);
  const common = gathered.entries.map((entry) => withContent(entry, files));
  const list = listOf({ version: 1, common }, before);
  const bytes = [...files.values()].reduce((sum, { size }) => sum + size, 0);
  return { files: [...files.values()], list, entries: common, bytes, entryCount: common.length };
}

/** The same files in place of those of an older list; what is only in that stays. */
export function inPlaceOf(older: FileSet, newer: InputFiles, before: string): InputFiles {
  const paths = new Set(newer.entries.map(({ path }) => path));
  const kept = older.common.filter(({ path }) => !paths.has(path));
  const entries = [...kept, ...newer.entries];
  const list = listOf({ ...older, common: entries }, before);
  return { ...newer, list, entries, entryCount: entries.length };
}

function listOf(set: FileSet, before: string): LocalFile {
  const text = Buffer.from(formatFileSet(set));
  if (text.length > FILE_SET_BYTES_MAX) {
    const size = formatSize(FILE_SET_BYTES_MAX);
    throw usage(`${before}the list of all files is longer than ${size}`, 'Pack them with tar.');
  }
  return localBytes('the list of input files', text);
}

/** Resolves with the hash that a submission names. */
export async function sendInputs(transfer: TransferContext, inputs: InputFiles): Promise<BlobHash> {
  const line = transfer.progress('sending');
  try {
    const begun = (bytes: number) => line.start(bytes);
    await uploadFiles(transfer.access, [...inputs.files, inputs.list], line.moved, begun);
    return inputs.list.hash;
  } finally {
    line.stop();
  }
}

/** Size and mode are those that it had when its content was read. */
function withContent(entry: FileEntry, files: ReadonlyMap<string, LocalFile>): FileEntry {
  const file = files.get(entry.path);
  if (file === undefined) return entry;
  return { ...entry, size: file.size, mode: file.mode, sha256: file.hash };
}
