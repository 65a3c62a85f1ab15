// Submits a batch with its files.

import path from 'node:path';
import { freshKey } from '../../../kernel/connect/fresh-key.ts';
import { withWeftErrors } from '../../../kernel/sdk/errors.ts';
import { checkOptions } from '../../../kernel/sdk/known-options.ts';
import type { HeadConnection } from '../../../kernel/sdk/line.ts';
import type { Batch as BatchDefinition } from './batch.ts';
import { BATCH_OPTIONS, type BatchOptions } from './options.ts';
import { SubmittedBatch } from './submitted-batch.ts';
import '../api/paths.ts';

/** Resolves when it is on the head's disk. */
export async function submitBatch(
  line: HeadConnection,
  batch: string | BatchDefinition,
  options: BatchOptions,
): Promise<SubmittedBatch> {
  checkOptions('a batch', options, BATCH_OPTIONS);
  const { mode = 'new', folder = '.', signal } = options;
  // Loaded here: a program without batches needs neither a schema library nor one for YAML.
  const { readBatch, takeBatch } = await import('../batch/read/read-batch.ts');
  const { sendParts } = await import('../transfer/send-batch.ts');
  const body = await withWeftErrors(async () => {
    const reading =
      typeof batch === 'string' ? readBatch(batch) : takeBatch(batch, path.resolve(folder));
    const { namespace, name, origin, after } = reading.batch;
    const parts = await sendParts(line.transfer(signal), reading);
    const before = after.map((other) => `${other.namespace}/${other.name}`);
    return { namespace, name, origin, mode, ...parts, after: before };
  });
  const made = await line.call('submitBatch', { body: body, key: freshKey(), signal });
  return new SubmittedBatch(line, `${made.namespace}/${made.name}@${made.version}`);
}
