// What the head is told of a file that is not kept: as much as it takes.

import { FILE_PATH_BYTES_MAX, LEFT_OUT_WHY_MAX } from '../model/limits.ts';
import type { Unfit } from './find-outputs.ts';

/** An odd name must not cost the files that are fine. */
export function reported({ path, why }: Unfit): Unfit {
  return { path: cut(path, FILE_PATH_BYTES_MAX), why: cut(why, LEFT_OUT_WHY_MAX) };
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
