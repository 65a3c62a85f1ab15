// The scripts of an export: one for each job, one for the build, and those that submit and upload.
// Everything is relative to the folder of the export, so that it can be moved.

import { quoteWord } from '../../../../kernel/base/shell-word.ts';
import { SAVE_FOLDER } from '../../../../kernel/files/folders.ts';
import { type BatchFile, type BatchJob, batchTitle, type Variables } from '../batch.ts';
import { commandLine, VARIABLES } from '../command-words.ts';
import { givenOf } from '../engine-script.ts';
import { fillIn } from '../placeholders.ts';
import { INITIAL_FOLDER, INPUT_FOLDER, programArgv } from '../programs.ts';
import { containerLines } from './container.ts';
import { buildHeader, jobHeader } from './header.ts';

/** Folders and files of an export. */
export const LAYOUT = {
  /** `input/`, and for a container its image. */
  files: 'files',
  imageFile: 'files/image',
  /** A folder for each node that has fetched it. */
  images: 'images',
  build: 'build',
  products: 'build/products',
  jobs: 'jobs',
  /** What is laid beside a job's script, and what comes of it. */
  own: 'files',
  results: 'results',
  exitCode: 'exit_code',
  /** Stands for all that went in; with it the exit code is that of what would be run again. */
  inputs: 'inputs',
  script: 'job.sl',
  buildScript: 'build.sl',
  submit: 'submit.sh',
  upload: 'upload.sh',
} as const;

const PREAMBLE = `set -u
here=\${SLURM_SUBMIT_DIR:-$PWD}
cpus=$(( \${SLURM_NTASKS:-1} * \${SLURM_CPUS_PER_TASK:-1} ))`;

/** `job.sl`; it is submitted in its own folder. */
export function jobScript(batch: BatchFile, job: BatchJob, inputs: string): string {
  const { solver } = batch;
  const isContainer = solver !== null && solver.kind !== 'build';
  const args = job.args.map((text) => fillIn(text, new Map([['cpus', VARIABLES.cpus]])));
  const run = isContainer
    ? containerLines({ solver, given: givenOf(batch) }, args, LAYOUT)
    : [commandLine(programArgv(job.run ?? { as: '' }, args))];
  return script([
    ...jobHeader(batch, job),
    PREAMBLE,
    'top=$here/../..',
    'work=$here/work',
    'rm -rf -- "$work" "$here/results" "$here/exit_code" "$here/inputs"',
    ...(solver?.kind === 'build'
      ? [`cp -a --reflink=auto -- "$top/${LAYOUT.products}" "$work" || exit 125`]
      : ['mkdir -p -- "$work"']),
    `mkdir -p -- "$work/${INPUT_FOLDER}" "$here/${LAYOUT.results}"`,
    // What is kept stays also when the job is ended in the middle.
    `ln -s -- "$here/${LAYOUT.results}" "$work/${SAVE_FOLDER}"`,
    ...['"$top/files/input"', '"$here/files/input"'].map(layInput),
    ...(job.run === null ? [] : [`cp -a -- "$here/${LAYOUT.own}"/program/. "$work/"`]),
    ...environment(batch, job.name, '"$here/results"'),
    ...variables({ ...batch.env, ...job.env }),
    'cd -- "$work" || exit 125',
    ...run,
    'code=$?',
    'cd -- "$here" && rm -rf -- "$work"',
    'echo "$code" > exit_code',
    `echo ${inputs} > inputs`,
    'exit "$code"',
  ]);
}

/** `build.sl`; null where there is nothing to build. */
export function buildScript(batch: BatchFile, inputs: string): string | null {
  const { solver } = batch;
  if (solver?.kind !== 'build') return null;
  const isSeed = batch.origin === 'distribute';
  return script([
    ...buildHeader(batch),
    PREAMBLE,
    'top=$here/..',
    'work=$here/work',
    'rm -rf -- "$work" "$here/products" "$here/inputs"',
    `mkdir -p -- "$work/${INPUT_FOLDER}" "$work/${SAVE_FOLDER}"`,
    layInput('"$top/files/input"'),
    ...(isSeed ? [`cp -a -- "$work/${INPUT_FOLDER}" "$work/${INITIAL_FOLDER}"`] : []),
    'cp -a -- "$here/files/program/." "$work/"',
    ...environment(batch, '_build', `"$work/${SAVE_FOLDER}"`),
    ...variables(batch.env),
    'cd -- "$work" || exit 125',
    `${commandLine(programArgv(solver.build, []))} || exit`,
    `cd -- "$here" && rm -rf -- "$work/${INPUT_FOLDER}" "$work/${SAVE_FOLDER}"`,
    'mv -- "$work" products',
    // Last: a second submission sees by it that all is there.
    `echo ${inputs} > inputs`,
  ]);
}

/** What stands for the inputs of the build and of each job. */
export interface Inputs {
  readonly build: string;
  readonly jobs: ReadonlyMap<string, string>;
}

/** `submit.sh`: what is not done and not queued; it may be run again at any time. */
export function submitScript(batch: BatchFile, inputs: Inputs): string {
  const hasBuild = batch.solver?.kind === 'build';
  const jobs = batch.jobs.map(({ name }) => `${inputs.jobs.get(name)} jobs/${name}`);
  return `#!/bin/bash
# Submits the jobs of ${batchTitle(batch)} that are neither done nor queued. Run it again at any time.
set -u
cd -- "$(dirname -- "$0")" || exit

# Whether what was submitted in this folder still waits or runs.
is_queued() {
  [ -s "$1/slurm_id" ] && [ -n "$(squeue --noheader --jobs "$(cat "$1/slurm_id")" 2>/dev/null)" ]
}

# Submits the script of a folder from inside it, with more options.
submit() {
  local folder=$1 script=$2 id
  shift 2
  id=$(cd -- "$folder" && sbatch --parsable "$@" "$script") || return
  echo "\${id%%;*}" > "$folder/slurm_id"
  echo "$folder: submitted as \${id%%;*}"
}

# Whether it came to a good end with these inputs.
is_done() {
  [ "$(cat "$2/inputs" 2>/dev/null)" = "$1" ] && [ "$(cat "$2/exit_code" 2>/dev/null)" = 0 ]
}

${buildPart(hasBuild ? inputs.build : null)}
failed=0
while read -r inputs folder; do
  if is_done "$inputs" "$folder"; then
    echo "$folder: done"
  elif is_queued "$folder"; then
    echo "$folder: queued as $(cat "$folder/slurm_id")"
  else
    prepare
    submit "$folder" ${LAYOUT.script} \${after[@]+"\${after[@]}"} || failed=1
  fi
done << 'JOBS'
${jobs.join('\n')}
JOBS
exit "$failed"
`;
}

function buildPart(inputs: string | null): string {
  if (inputs === null) return 'after=()\nprepare() { :; }';
  return `# The build, before the first job that is submitted; all of them wait for it.
after=()
is_prepared=
prepare() {
  if [ -n "$is_prepared" ]; then return; fi
  is_prepared=yes
  if [ "$(cat build/inputs 2>/dev/null)" = ${inputs} ]; then return; fi
  if is_queued build; then
    echo "build: queued as $(cat build/slurm_id)"
  else
    submit build ${LAYOUT.buildScript} || exit
  fi
  after=(--dependency="afterok:$(cat build/slurm_id)" --kill-on-invalid-dep=yes)
}
`;
}

/** `upload.sh`: the folder to another machine, without results; again, only what has changed. */
export function uploadScript(batch: BatchFile, destination: string | null): string {
  const usual = destination === null ? '' : quoteWord(destination);
  return `#!/bin/bash
# Copies this folder to where Slurm is: upload.sh ${destination === null ? 'USER@HOST:FOLDER' : '[USER@HOST:FOLDER]'}
set -u
to=\${1:-${usual}}
if [ -z "$to" ]; then
  echo "say where to: upload.sh USER@HOST:FOLDER" >&2
  exit 2
fi
here=$(cd -- "$(dirname -- "$0")" && pwd) || exit
rsync -rlpt --safe-links ${NOT_UPLOADED.map((name) => `--exclude='/*/${name}'`).join(' \\\n  ')} \\
  -- "$here" "$to" || exit
echo "Submit ${batchTitle(batch)} there: $(basename -- "$here")/submit.sh"
`;
}

/** What comes of jobs, below the folder itself. */
const NOT_UPLOADED = [
  ...['images', 'build/products', 'build/work', 'build/inputs', 'build/slurm_id'],
  ...['jobs/*/results', 'jobs/*/work', 'jobs/*/inputs', 'jobs/*/exit_code', 'jobs/*/slurm_id'],
];

function layInput(folder: string): string {
  return `if [ -d ${folder} ]; then cp -a -- ${folder}/. "$work/${INPUT_FOLDER}/"; fi`;
}

function environment(batch: BatchFile, name: string, save: string): string[] {
  return [
    `export WEFT_BATCH=${quoteWord(batchTitle(batch))} WEFT_JOB_NAME=${quoteWord(name)}`,
    `export WEFT_INPUT="$work/${INPUT_FOLDER}" WEFT_SAVE=${save} WEFT_CPUS=$cpus`,
    `export OMP_NUM_THREADS="\${OMP_NUM_THREADS:-$cpus}"`,
  ];
}

function variables(env: Variables): string[] {
  return Object.entries(env).map(([name, value]) => `export ${name}=${quoteWord(value)}`);
}

function script(lines: readonly string[]): string {
  return `#!/bin/bash\n${lines.join('\n')}\n`;
}
