// A batch as it is named on the command line: `NAMESPACE/NAME`, or the file that describes it.

import { statSync } from 'node:fs';
import path from 'node:path';
import type { Context } from '../../../../kernel/cli/context.ts';
import { parseBatch } from '../../../../kernel/model/batch.ts';
import { usage } from '../../../../kernel/model/failure.ts';
import { relative } from '../operand.ts';

/** What the operand of most commands on batches is. */
export const BATCH_OPERAND = 'NAMESPACE/NAME, NAMESPACE/NAME@VERSION, or its batch file';

/** Parameters of the API's paths. */
export type BatchParams = Readonly<Record<'namespace' | 'name', string>>;

/**
 * The batch that is meant. A file that is there wins: names of batches have no dot-something
 * behind. A folder does not: `batch pull` puts what it fetches into one of the batch's name.
 */
export async function batchParams(context: Context, text: string): Promise<BatchParams> {
  if (namesFile(path.resolve(context.cwd, text), text)) {
    const { readBatch } = await import('../../batch/read/read-batch.ts');
    const { namespace, name } = readBatch(relative(context, text)).batch;
    return { namespace, name };
  }
  const read = parseBatch(text);
  if (!read.ok) throw usage(`${read.error}, or a batch file that is there`);
  const { namespace, name, version } = read.value;
  return { namespace, name: version === null ? name : `${name}@${version}` };
}

function namesFile(file: string, text: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  // `./sweep` and `../sweep` are places, and what is wrong with a folder there is told.
  return found !== undefined && (!found.isDirectory() || /^\.\.?\//.test(text));
}
