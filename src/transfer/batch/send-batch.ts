// Brings the files of a batch to the head, as far as it lacks them, and makes the parts that its
// submission names.

import type { BatchReading } from '../../batch/read/read-batch.ts';
import { buildKey, partsOf } from '../../core/batch/parts.ts';
import type { Courier } from '../courier.ts';
import { localBytes } from '../local-file.ts';
import { uploadFiles } from '../upload.ts';
import { BatchFiles } from './batch-files.ts';

/** Everything that the jobs need is on the head before they are. */
export async function sendParts(courier: Courier, reading: BatchReading) {
  const files = await BatchFiles.read(courier, reading);
  const parts = partsOf(reading.batch, files);
  const lists = parts.map(({ fileSet }, at) => {
    return fileSet === null ? null : localBytes(`list ${at} of files`, Buffer.from(fileSet));
  });
  const sent = [...files.all, ...lists.filter((list) => list !== null)];
  const line = courier.progress('sending');
  try {
    await uploadFiles(courier.carrier, sent, line.moved, (bytes) => line.start(bytes));
  } finally {
    line.stop();
  }
  return {
    build: buildKey(reading.batch, files),
    parts: parts.map(({ submission, numbers, prints }, at) => {
      const inputs = lists[at]?.hash;
      const staging = { ...submission.staging, ...(inputs === undefined ? {} : { inputs }) };
      return { submission: { ...submission, staging }, numbers, prints };
    }),
  };
}
