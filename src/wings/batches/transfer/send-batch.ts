// Brings the files of a batch to the head, as far as it lacks them, and makes the parts that its
// submission names.

import { localBytes } from '../../../kernel/transfer/local-file.ts';
import type { TransferContext } from '../../../kernel/transfer/transfer-context.ts';
import { lackingFiles, uploadFiles } from '../../../kernel/transfer/upload.ts';
import type { BatchReading } from '../batch/read/read-batch.ts';
import { buildKey, buildMsOf, partsOf } from '../core/parts.ts';
import { BatchFiles } from './batch-files.ts';

/** What sending a batch would come to. */
export interface UploadAmount {
  /** Contents that the head has or is to get, each once. */
  readonly files: number;
  readonly bytes: number;
  /** Those that it lacks. */
  readonly lacking: { readonly files: number; readonly bytes: number };
}

/** Reads all files and asks the head which it has; nothing is sent. */
export async function uploadAmount(
  transfer: TransferContext,
  reading: BatchReading,
): Promise<UploadAmount> {
  const { all } = await BatchFiles.read(transfer, reading);
  const contents = [...new Map(all.map((file) => [file.hash, file])).values()];
  const lacking = await lackingFiles(transfer.access, contents);
  return {
    files: contents.length,
    bytes: contents.reduce((sum, { size }) => sum + size, 0),
    lacking: {
      files: lacking.length,
      bytes: lacking.reduce((sum, { leftBytes }) => sum + leftBytes, 0),
    },
  };
}

/** Everything that the jobs need is on the head before they are. */
export async function sendParts(transfer: TransferContext, reading: BatchReading) {
  const files = await BatchFiles.read(transfer, reading);
  const parts = partsOf(reading.batch, files);
  const buildMs = buildMsOf(reading.batch);
  const lists = parts.map(({ fileSet }, at) => {
    return fileSet === null ? null : localBytes(`list ${at} of files`, Buffer.from(fileSet));
  });
  const sent = [...files.all, ...lists.filter((list) => list !== null)];
  const line = transfer.progress('sending');
  try {
    await uploadFiles(transfer.access, sent, line.moved, (bytes) => line.start(bytes));
  } finally {
    line.stop();
  }
  return {
    build: buildKey(reading.batch, files),
    ...(buildMs === undefined ? {} : { buildMs }),
    parts: parts.map(({ submission, numbers, after, prints }, at) => {
      const inputs = lists[at]?.hash;
      const staging = { ...submission.staging, ...(inputs === undefined ? {} : { inputs }) };
      const behind = after.length === 0 ? {} : { after };
      return { submission: { ...submission, staging }, numbers, ...behind, prints };
    }),
  };
}
