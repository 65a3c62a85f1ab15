// `weft restore`: puts a backup where a head finds it. It asks no head: the one that was may be
// gone.

import path from 'node:path';
import { plural } from '../../../kernel/base/plural.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { LocalPaths } from '../../../kernel/cli/daemons/local-paths.ts';
import { formatInstant } from '../../../kernel/cli/output/words.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { refuse } from '../../../kernel/model/errors.ts';
import { failure } from '../../../kernel/model/failure.ts';
import { CONFIGURATION_FOLDER } from '../api/backup-header.ts';
import { type OpenBackup, openBackup, problemsOf, restore } from '../transfer/restore.ts';
import { amountWords, jobWords } from './words.ts';

interface Options {
  readonly check?: boolean;
}

/** More of them help nobody. */
const PROBLEMS_SHOWN = 20;

export const verb = defineVerb<Options>({
  define(command) {
    command.argument('<backup>', 'folder of one backup, as `weft backup` tells it');
    command.option('--check', 'compare each of its files with what was written; put nothing back');
  },
  async run({ context, args: [name = ''], options }) {
    const backup = openBackup(path.resolve(context.cwd, name));
    if (options.check === true) return check(context, backup);
    const to = new LocalPaths(context.directory).head;
    restore(backup, to);
    for (const line of told(backup, to, context.directory)) context.print(line);
    return 0;
  },
});

function check(context: Context, backup: OpenBackup): number {
  const problems = problemsOf(backup);
  if (problems.length === 0) {
    context.print(`${whatItIs(backup)}, is whole: ${amountWords(backup.header)}.`);
    return 0;
  }
  for (const problem of problems.slice(0, PROBLEMS_SHOWN)) context.note(problem);
  const what = `${plural(problems.length, 'file')} of it cannot be put back`;
  throw failure(refuse('backup.damaged', { folder: backup.folder, what }));
}

function whatItIs({ folder, header }: OpenBackup): string {
  const at = formatInstant(header.madeAt, Date.now());
  return `${folder}, the backup of ${header.cluster} of ${at} (release ${header.weft})`;
}

function told(backup: OpenBackup, to: string, directory: string): string[] {
  const { header, folder } = backup;
  const files = path.join(folder, CONFIGURATION_FOLDER);
  const configured = header.configuration.map(
    (file) => `Its configuration was ${file}; a copy is in ${files}.`,
  );
  return [
    `${to} is put back from ${whatItIs(backup)}:`,
    `  ${amountWords(header)}, each as it was written`,
    `  ${jobWords(header)}; what was accepted later is not in it`,
    ...configured,
    ...(header.leftOut ?? []).map((one) => `  left out when it was made: ${one}`),
    'Make sure that the head it was made of does not run any more. Then start this one once with',
    `  weft up --dir ${directory} --accept-loss       (all on this machine), or`,
    `  WEFT_DIR=${directory} weft head --accept-loss     (several machines; as the head's user)`,
  ];
}
