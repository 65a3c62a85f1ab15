// The operand that most batch commands have: a batch file, or the one that lies here.

import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import type { Context } from '../../../kernel/cli/context.ts';
import { usage } from '../../../kernel/model/failure.ts';

const USUAL = ['weft.batch.yaml', 'distribute-jobs.yaml'];

export function defineBatchFile(command: Command): void {
  command.argument('[file]', `batch file; default: ${USUAL.join(' or ')} here`);
}

/** Relative to where the command was typed. */
export function batchFileOf(context: Context, given: string | undefined): string {
  if (given !== undefined) return relative(context, given);
  const found = USUAL.find((name) => existsSync(path.join(context.cwd, name)));
  if (found !== undefined) return relative(context, found);
  throw usage(`name a batch file: there is no ${USUAL.join(' and no ')} here`, HINT);
}

const HINT = '`weft batch template --file weft.batch.yaml` writes one to begin with.';

/** Tests run commands in other folders than that of the process. */
export function relative(context: Context, file: string): string {
  return context.cwd === process.cwd() ? file : path.resolve(context.cwd, file);
}
