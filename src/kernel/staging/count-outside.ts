// What a job of a batch found in its work directory when it began, as its script has written it
// down.

import { closeSync, fstatSync } from 'node:fs';
import path from 'node:path';
import { namesBefore, OutsideCount } from '../files/outside.ts';
import { BEGUN_MARK } from '../model/batch.ts';
import { readSmall } from '../transfer/local-file.ts';
import { openChecked } from './open-path.ts';

/** A list of names; the user may have put anything in its place. */
const LIST_BYTES_MAX = 1_048_576;

/** Undefined: nobody knows, as of a script of an earlier release. */
export function countOutside(directory: string, uid: number | null): OutsideCount | undefined {
  let fd: number;
  try {
    fd = openChecked(path.join(directory, BEGUN_MARK), (status) => {
      const isAnothers = uid !== null && Number(status.uid) !== uid;
      if (!status.isFile() || isAnothers) throw new Error('it is no mark of the script');
    });
  } catch {
    return undefined; // The job ended before, or has removed it: then nothing is told.
  }
  try {
    const { size, mtimeNs } = fstatSync(fd, { bigint: true });
    if (size > LIST_BYTES_MAX) return undefined;
    const { bytes } = readSmall(fd, Number(size));
    const names = namesBefore(Buffer.from(bytes).toString());
    return new OutsideCount({ names, atNs: mtimeNs });
  } finally {
    closeSync(fd);
  }
}
