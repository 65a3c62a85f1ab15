// A trace from a file, packed or not, or from standard input.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Context } from '../../../kernel/cli/context.ts';
import { fileProblem } from '../../../kernel/config/file-problem.ts';
import { refuse } from '../../../kernel/model/errors.ts';
import { failure } from '../../../kernel/model/failure.ts';
import { parseSwf, type SwfTrace } from '../core/swf.ts';

/** Broken lines that are told one by one; of a file that is no trace every line is broken. */
const TOLD_MAX = 10;

/** Says on standard error which lines are broken. */
export function readTrace(context: Context, file: string): SwfTrace {
  const trace = parseSwf(readText(context, file));
  for (const { line, reason } of trace.broken.slice(0, TOLD_MAX)) {
    context.note(`${file}:${line}: ${reason}; the line is skipped`);
  }
  const more = trace.broken.length - TOLD_MAX;
  if (more > 0) context.note(`${file}: ${more} more broken lines are skipped`);
  return trace;
}

function readText(context: Context, file: string): string {
  try {
    const bytes = readFileSync(file === '-' ? 0 : path.resolve(context.cwd, file));
    // By its first bytes, not by its name: a download often has lost the one, never the others.
    const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
    return (isPacked ? gunzipSync(bytes) : bytes).toString('utf8');
  } catch (cause) {
    throw failure(refuse('trace.unreadable', { trace: file, cause: fileProblem(cause) }));
  }
}
