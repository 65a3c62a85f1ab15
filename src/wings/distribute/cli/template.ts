// `distribute template`: a distribute-jobs.yaml to begin with.

import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { fileProblem } from '../../../kernel/config/file-problem.ts';
import { usage } from '../../../kernel/model/failure.ts';

const STARTS = {
  python: `python:
  initialize:
    build_file: {path: build.py}      # runs once per node, as python3 run.py
    required_files: [{path: mesh.h5}] # in input/ of the build and of every job
  jobs:
    - name: re100
      file: {path: job.py}            # runs as python3 run.py CORES
      required_files: [{path: re100.json, alias: input.json}]
    - name: re200
      file: {path: job.py}
      required_files: [{path: re200.json, alias: input.json}]
`,
  apptainer: `apptainer:
  initialize:
    sif: {path: solver.sif}           # its app 'distribute' is run with the number of cores
    required_files: [{path: mesh.h5}] # in /input of every job
    required_mounts: [/scratch]       # folders in the container that a job may write to
${containerJobs()}`,
  docker: `docker:
  initialize:
    image: debian:12                  # a name that the nodes can pull
    required_files: [{path: mesh.h5}] # in /input of every job
    required_mounts: [/scratch]       # folders in the container that a job may write to
${containerJobs()}`,
};
type Kind = keyof typeof STARTS;
const KINDS = Object.keys(STARTS) as Kind[];

function containerJobs(): string {
  return `  jobs:
    - name: re100
      required_files: [{path: re100.json, alias: input.json}]
    - name: re200
      required_files: [{path: re200.json, alias: input.json}]
`;
}

const NEEDS: Readonly<Record<Kind, string>> = {
  python: '[python3]',
  apptainer: '[apptainer]',
  docker: '[docker]',
};

interface Options {
  readonly output?: string;
  readonly force?: boolean;
}

export const template = defineVerb<Options>({
  define(command) {
    command.argument('<kind>', KINDS.join(', '));
    command.option('--output <file>', 'where to write it; - prints it', 'distribute-jobs.yaml');
    command.option('--force', 'overwrite an existing file');
  },
  async run({ context, args: [kind = ''], options: { output = '', force } }) {
    if (!KINDS.includes(kind as Kind)) {
      throw usage(`'${kind}' is no kind of batch; write ${KINDS.join(', ')}`);
    }
    const text = templateText(kind as Kind);
    if (output === '-') {
      context.out(text);
      return 0;
    }
    const full = path.resolve(context.cwd, output);
    if (existsSync(full) && force !== true) {
      throw usage(`${output} is there already`, '--force writes over it, --output names another.');
    }
    try {
      writeFileSync(full, text);
    } catch (error) {
      throw usage(`--output: cannot write ${output}: ${fileProblem(error)}`);
    }
    context.print(`Wrote ${output}.`);
    return 0;
  },
});

/** A file that is right once the files that it names are there. */
export function templateText(kind: Kind): string {
  return `# docs/migration/distribute.md has every key; \`weft batch check\` looks for mistakes.
meta:
  namespace: alice_wing               # the folder of several batches
  batch_name: sweep_01                # results: alice_wing/sweep_01/JOB/
  capabilities: ${NEEDS[kind].padEnd(21)} # labels that a node must have
  # matrix: "@alice:example.org"      # told when the batch is over
${STARTS[kind]}# slurm: {ntasks: 4, mem_per_cpu: 10M, time: "00:30:00", partition: cpu}   # for distribute slurm
`;
}
