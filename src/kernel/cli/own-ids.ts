// Operands that are jobs, as the head has their ids: what else may stand there is asked of wings.

import type { Command } from 'commander';
import type { Context } from './context.ts';

/** Operands called so are ids of jobs. */
const JOB = 'job';
/** No id of ours has one of these. */
const FOREIGN = '/';

/** The operands, those that other names of jobs stood for with our ids in their place. */
export async function withOwnIds(command: Command, context: Context): Promise<readonly string[]> {
  const declared = command.registeredArguments;
  const isForeign = (text: string, at: number): boolean => {
    const argument = declared[Math.min(at, declared.length - 1)];
    const isJob = argument?.name() === JOB && (at < declared.length || argument.variadic);
    return isJob && text.includes(FOREIGN);
  };
  const { args } = command;
  if (!args.some(isForeign)) return args;
  return Promise.all(args.map((text, at) => (isForeign(text, at) ? ownId(text, context) : text)));
}

async function ownId(text: string, context: Context): Promise<string> {
  for (const { cli } of context.wings) {
    const id = await cli?.jobId?.(text, context);
    if (id != null) return id;
  }
  return text;
}
