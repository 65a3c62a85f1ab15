// `weft batch template`: a batch file to begin with.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { writeWhole } from '../../../kernel/cli/output/write-whole.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { usage } from '../../../kernel/model/failure.ts';

const SOLVERS = {
  build: `solver:
  build: build.py               # runs once per node; python3 runs *.py, else its first line says`,
  apptainer: `solver:
  image: solver.sif             # its app 'distribute' is run
  mounts: [/scratch]            # folders in the container that a job may write to
  gpu: false`,
  docker: `solver:
  docker: solver.tar            # or a name: debian:12
  mounts: [/scratch]            # folders in the container that a job may write to
  gpu: false`,
  podman: `solver:
  podman: solver.tar            # or a name: debian:12
  mounts: [/scratch]            # folders in the container that a job may write to
  gpu: false`,
};
type Kind = keyof typeof SOLVERS;
const KINDS = Object.keys(SOLVERS) as Kind[];

interface Options {
  readonly file?: string;
  readonly force?: boolean;
  readonly schema?: boolean;
}

export const template = defineVerb<Options>({
  define(command) {
    command.argument('[kind]', `kind of solver: ${KINDS.join(', ')}; default: build`);
    command.option('--file <file>', 'write it there instead of printing it');
    command.option('--force', 'overwrite an existing file');
    command.option('--schema', 'the JSON Schema of batch files instead, for editors');
  },
  async run({ context, args: [kind = 'build'], options }) {
    if (!KINDS.includes(kind as Kind)) {
      throw usage(`'${kind}' is no kind of solver; write ${KINDS.join(', ')}`);
    }
    const text = options.schema === true ? await schemaText() : templateText(kind as Kind);
    if (options.file === undefined) {
      context.terminal.out(text);
      return 0;
    }
    const full = path.resolve(context.cwd, options.file);
    if (existsSync(full) && options.force !== true) {
      throw usage(`${options.file} is there already`, '--force writes over it.');
    }
    writeWhole(context.cwd, { flag: '--file', file: options.file }, text);
    context.print(`Wrote ${options.file}.`);
    return 0;
  },
});

async function schemaText(): Promise<string> {
  const { batchFileJsonSchema } = await import('../api/batch-file.ts');
  return `${JSON.stringify(batchFileJsonSchema(), null, 2)}\n`;
}

/** A file that is right once the files that it names are there. */
export function templateText(kind: Kind): string {
  const run = kind === 'build' ? 'run: job.py, ' : '';
  return `# docs/batches.md explains every key; \`weft batch check\` looks for mistakes.
namespace: alice_wing           # the folder of several batches
name: sweep_01                  # results: alice_wing/sweep_01/JOB/
needs: []                       # labels that a node must have: [python3, fast]
# env: {SEED: 7}                # variables of the build and of every job
${SOLVERS[kind]}
files: [mesh.h5]                # in input/ of the build and of every job
defaults: {cpus: 2, memory: 2G, time: 30m, retries: 1}   # also gpus, partition, qos, priority
sweep: {re: [100, 200, 400]}    # every job once for each value
jobs:
  - {name: "re{{re}}", ${run}args: [--re, "{{re}}", --cpus, "{{cpus}}"]}
  # - {name: "plot{{re}}", ${run}after: ["re{{re}}"]}   # when that job has completed
outputs: ['**']                 # what is kept of what a job leaves in distribute_save/
# after: [alice_wing/mesh_01]   # a batch that has to be done before
# notify: [{command: tell}]
# slurm: {partition: cpu, account: lab}   # for weft batch export slurm
`;
}
