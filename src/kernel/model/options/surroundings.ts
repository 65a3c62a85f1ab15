// Options that say where the processes of a job run: directory, files, output, variables.

import type { OptionRow } from './row.ts';
import { UMASK } from './types.ts';

export const SURROUNDINGS = {
  chdir: {
    flags: '--chdir <dir>',
    words: 'run in this directory, which nodes must share (default: here, if shared)',
    pool: true,
    theirs: '--workdir --cwd',
    sbatch: '--chdir -D',
  },
  private: {
    flags: '--private',
    words: 'run in an empty directory of its own on the node',
    pool: true,
  },
  in: {
    flags: '--in <path[=name]>',
    words: 'input file or folder, under its own name or this one (repeatable)',
    many: true,
    pool: true,
  },
  out: {
    flags: '--out <pattern>',
    words:
      "files to keep of those that the job leaves there: 'result/**', '!*.tmp' but not these, none (repeatable)",
    many: true,
  },
  output: {
    flags: '--output <file>',
    words:
      'standard output of each process; %j job, %a index, %n node rank, %p process; missing folders are created',
    pool: true,
    theirs: '--stdout',
    sbatch: '--output -o',
  },
  error: {
    flags: '--error <file>',
    words: 'standard error of each process',
    pool: true,
    theirs: '--stderr',
    sbatch: '--error -e',
  },
  stdin: {
    flags: '--stdin <file>',
    words:
      'standard input of each process; -: what comes here (with -f or --wait); attach: what weft attach --stdin brings',
    theirs: '--input -i',
  },
  env: {
    flags: '--env <name[=value]>',
    words: 'set or pass one variable (repeatable)',
    many: true,
    pool: true,
    theirs: '--export',
  },
  cleanEnv: {
    flags: '--clean-env',
    words: 'pass no variables but those of --env',
    pool: true,
  },
  /** File mode creation mask of its processes. Default: that of this program. */
  umask: {
    flags: '--umask <mask>',
    words: 'file mode creation mask (default: yours)',
    field: 'umask',
    type: UMASK,
    pool: true,
    kept: { default: 0o022 },
  },
} as const satisfies Readonly<Record<string, OptionRow>>;
