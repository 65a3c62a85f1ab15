// A batch where a job is to be named: it is known, and has jobs of its own.

import type { Context } from '../../../kernel/cli/context.ts';
import { usage } from '../../../kernel/model/failure.ts';

/** Throws where the operand is the title of a batch; else null: it is no job of this wing's. */
export async function refuseBatch(text: string, context: Context): Promise<null> {
  const { batches } = await (await context.api()).call('listBatches');
  if (!batches.some(({ title }) => title === text)) return null;
  const hint = `\`weft batch show ${text}\` shows it and its jobs; \`weft batch --help\` what can be done.`;
  throw usage(`${text} is a batch, not a job`, hint);
}
