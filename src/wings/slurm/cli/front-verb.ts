// `weft front slurm DIR`: a folder for the PATH, in which the commands of Slurm are those of this
// cluster.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { quoteWord } from '../../../kernel/base/shell-word.ts';
import { defineVerb, type VerbGroup } from '../../../kernel/cli/verb.ts';
import { fileProblem } from '../../../kernel/config/file-problem.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { FOLDER_VARIABLE } from '../core/mark.ts';
import { ABSENT } from './absent.ts';

export const COMMANDS: readonly string[] = [
  'sbatch',
  'srun',
  'salloc',
  'squeue',
  'sinfo',
  'scancel',
  'sacct',
  'sstat',
  'sattach',
  'scontrol',
  'sacctmgr',
  'sprio',
  'sshare',
  ...ABSENT,
];
const STARTER = fileURLToPath(new URL('../../../../bin/slurm-front.cjs', import.meta.url));
/** By this a file of ours is known again. */
const SIGN = '# made by weft front slurm';

const slurm = defineVerb<{ dir?: string }>({
  define(command) {
    command.argument('<folder>', 'folder for the commands; created if it is missing');
  },
  async run({ context, args: [name = ''] }) {
    const folder = path.resolve(context.cwd, name);
    refuseForeign(folder);
    try {
      mkdirSync(folder, { recursive: true });
      for (const command of COMMANDS)
        writeFileSync(path.join(folder, command), starter(command, folder), { mode: 0o755 });
    } catch (error) {
      throw usage(`${folder} cannot be written: ${fileProblem(error)}`);
    }
    context.print(`${COMMANDS.join(', ')} of this cluster are in ${folder}.`);
    context.print(`export PATH=${quoteWord(folder)}:$PATH`);
    return 0;
  },
});

/** Nothing of a real Slurm, or of somebody else, is written over. */
function refuseForeign(folder: string): void {
  const found = COMMANDS.map((command) => path.join(folder, command)).find(
    (file) => existsSync(file) && !readFileSync(file, 'utf8').includes(SIGN),
  );
  if (found === undefined) return;
  throw usage(`${found} is there already, and is not of Weft; give a folder of its own`);
}

function starter(command: string, folder: string): string {
  const line = [process.execPath, STARTER, command].map(quoteWord).join(' ');
  const told = `${FOLDER_VARIABLE}=${quoteWord(folder)} `;
  return `#!/bin/sh\n${SIGN}\n${command === 'sbatch' ? told : ''}exec ${line} "$@"\n`;
}

export const verb: VerbGroup = {
  verbs: { slurm: { summary: 'commands that speak Slurm, in a folder for the PATH', verb: slurm } },
};
