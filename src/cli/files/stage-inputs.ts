// Brings the files that a job needs to the head: what it lacks is sent, and the list of all of them is
// what the job names.

import { plural } from '../../core/base/plural.ts';
import { formatSize } from '../../core/base/size.ts';
import type { FileEntry } from '../../core/files/entry.ts';
import { formatFileSet } from '../../core/files/file-set.ts';
import type { BlobHash } from '../../core/model/blob.ts';
import { usage } from '../../core/model/failure.ts';
import { FILE_SET_BYTES_MAX } from '../../core/model/limits.ts';
import { type LocalFile, localBytes } from '../../transfer/local-file.ts';
import { lackingFiles, uploadFiles } from '../../transfer/upload.ts';
import { carrierOf } from '../connection/carrier.ts';
import type { Context } from '../context.ts';
import { formatBytes } from '../output/words.ts';
import type { InputWishes } from '../submit/staged-files.ts';
import { gather } from './gather.ts';
import { readAll } from './read-all.ts';
import { TransferLine } from './transfer-line.ts';

/** What goes with a job, hashed. */
export interface InputFiles {
  readonly files: readonly LocalFile[];
  /** The list of them, which the job names. */
  readonly list: LocalFile;
  readonly bytes: number;
  /** Files, folders and links. */
  readonly entryCount: number;
}

/** Reads all of it. Throws one failure with all that is wrong. */
export async function readInputs(
  context: Context,
  { wishes, program }: InputWishes,
): Promise<InputFiles> {
  const gathered = gather(wishes, context.cwd, program);
  if (gathered.isProgramAdded) context.note(`${program?.path} is sent with the job`);
  const files = await readAll(context, gathered, '--in: ');
  const common = gathered.entries.map((entry) => withContent(entry, files));
  const text = Buffer.from(formatFileSet({ version: 1, common }));
  if (text.length > FILE_SET_BYTES_MAX) {
    const size = formatSize(FILE_SET_BYTES_MAX);
    throw usage(`--in: the list of all files is longer than ${size}`, 'Pack them with tar.');
  }
  const list = localBytes('the list of input files', text);
  const bytes = [...files.values()].reduce((sum, { size }) => sum + size, 0);
  return { files: [...files.values()], list, bytes, entryCount: common.length };
}

/** Resolves with the hash that a submission names. */
export async function sendInputs(context: Context, inputs: InputFiles): Promise<BlobHash> {
  const line = new TransferLine(context, 'sending');
  try {
    const begun = (bytes: number) => line.start(bytes);
    await uploadFiles(carrierOf(context), [...inputs.files, inputs.list], line.moved, begun);
    return inputs.list.hash;
  } finally {
    line.stop();
  }
}

/** `3 files with 1.2G go with it; 1 of them with 1G has to be sent.` */
export async function inputWords(context: Context, { files, bytes }: InputFiles): Promise<string> {
  const lacking = await lackingFiles(carrierOf(context), files);
  const toSend = lacking.reduce((sum, { leftBytes }) => sum + leftBytes, 0);
  const sent =
    lacking.length === 0
      ? 'all of them are on the head'
      : `${lacking.length} of them with ${formatBytes(toSend)} would be sent`;
  return `${plural(files.length, 'file')} with ${formatBytes(bytes)} would go with it; ${sent}.`;
}

/** Size and mode are those that it had when its content was read. */
function withContent(entry: FileEntry, files: ReadonlyMap<string, LocalFile>): FileEntry {
  const file = files.get(entry.path);
  if (file === undefined) return entry;
  return { ...entry, size: file.size, mode: file.mode, sha256: file.hash };
}
