// How a job of a batch is run as a task: a shell script that is the same for all of its jobs, and
// the job's command, which it is given. The solver is built by the first task that a node gets.

import { SAVE_FOLDER } from '../../../kernel/files/folders.ts';
import { BEGUN_MARK } from '../../../kernel/model/batch.ts';
import { containerMark } from '../../../kernel/model/container-engine.ts';
import type { BatchFile, BatchJob, ContainerSolver } from './batch.ts';
import { buildPart } from './build-script.ts';
import { commandLine, VARIABLES } from './command-words.ts';
import { apptainerArgv, type EngineSolver, isEngineSolver } from './containers.ts';
import { containerFunctions, givenOf } from './engine-script.ts';
import { onlyOfJob } from './environment-script.ts';
import { fillIn } from './placeholders.ts';
import { bindFolder, INPUT_FOLDER, programArgv } from './programs.ts';

/**
 * Where the files of a task lie in its directory before it starts, if not at their places: the
 * script moves them.
 */
export const TASK_LAYOUT = {
  top: '_weft',
  /** Files of the batch. */
  shared: '_weft/shared',
  /** Those of the job: one of the same name takes the place of that of the batch. */
  own: '_weft/own',
  program: '_weft/program',
  build: '_weft/build',
  imageFile: '_weft/image',
} as const;

/** `$1` is the name of the job, `$2` its command. */
export function taskScript(batch: BatchFile): string {
  return `#!/bin/sh
# Runs one job of a batch: $1 is its name, $2 its command.
set -u
job=$1
line=$2
work=$PWD
files=$work/${TASK_LAYOUT.top}
${CPUS}
export WEFT_CPUS="$cpus" OMP_NUM_THREADS="\${OMP_NUM_THREADS:-$cpus}"

# Moves a folder to its place, or what is in it where that is there: what has the same name makes
# room. Few processes, as thousands of short jobs begin so.
lay() {
  [ -d "$1" ] || return 0
  if [ ! -d "$2" ]; then
    mv -- "$1" "$2" || exit 125
    return 0
  fi
  from=$1
  to=$2
  set --
  for one in "$from"/* "$from"/.[!.]* "$from"/..?*; do
    [ -e "$one" ] || [ -L "$one" ] || continue
    place=$to/\${one##*/}
    if [ -e "$place" ] || [ -L "$place" ]; then rm -rf -- "$place" || exit 125; fi
    set -- "$@" "$one"
    [ $# -lt 100 ] || { mv -- "$@" "$to/" || exit 125; set --; }
  done
  [ $# -eq 0 ] || mv -- "$@" "$to/" || exit 125
}
${buildPart(batch, TASK_LAYOUT)}
lay "$files/shared" "$work/${INPUT_FOLDER}"
lay "$files/own" "$work/${INPUT_FOLDER}"
lay "$files/program" "$work"
for one in "$work/${INPUT_FOLDER}" "$work/${SAVE_FOLDER}"; do
  [ -d "$one" ] || mkdir -- "$one" || exit 125
done
# What is there now is not what the job leaves. The shell does it all by itself.
[ ! -d "$files" ] || printf '%s\\n' "$work"/* "$work"/.[!.]* "$work"/..?* > "$work/${BEGUN_MARK}"
export WEFT_JOB_NAME="$job" WEFT_INPUT="$work/${INPUT_FOLDER}" WEFT_SAVE="$work/${SAVE_FOLDER}"
${[...onlyOfJob(batch), runPart(batch)].join('\n')}
`;
}

/**
 * The job's command for that script: one line, in which only the script's own variables are open.
 */
export function taskLine({ solver }: BatchFile, job: BatchJob): string {
  const args = job.args.map((text) => fillIn(text, new Map([['cpus', VARIABLES.cpus]])));
  if (solver === null || solver.kind === 'build') {
    return commandLine(programArgv(job.run ?? { as: '' }, args));
  }
  if (isEngineSolver(solver)) return commandLine(['in_container', ...args]);
  const { work, input, save, image } = VARIABLES;
  const binds = solver.mounts.map((_, at) => `${work}/${bindFolder(at)}`);
  return commandLine(apptainerArgv({ solver, image, input, save, binds, args }));
}

function runPart(batch: BatchFile): string {
  const { solver } = batch;
  if (solver === null || solver.kind === 'build') return 'eval "exec $line"';
  return isEngineSolver(solver) ? enginePart(solver, batch) : apptainerPart(solver);
}

function apptainerPart({ mounts }: ContainerSolver): string {
  const folders = mounts.map((_, at) => `mkdir -p -- "$work/${bindFolder(at)}"\n`);
  return `${folders.join('')}image=$work/${TASK_LAYOUT.imageFile}
# The older name of the same program.
command -v apptainer > /dev/null || ! command -v singularity > /dev/null || line="singularity \${line#apptainer }"
eval "exec $line"`;
}

/** The name of the container is that of this start on this node: the node can tell it by itself. */
function enginePart(solver: EngineSolver, batch: BatchFile): string {
  const mark = `"$work/${containerMark(solver.kind)}"`;
  return `name=weft-$(printf %s "\${WEFT_LAUNCH:-$$}" | tr -c 'A-Za-z0-9' -)
memory=\${WEFT_MEMORY_BYTES:-0}
${containerFunctions(solver, givenOf(batch))}
mkdir -p -- "$files" && : > ${mark} || exit 125
eval "$line"
code=$?
[ "$code" -ge 125 ] || rm -f -- ${mark}
# With these the engine tells that it has not started the container; a program may end with them, too.
if [ "$code" -ge 125 ] && [ "$code" -le 127 ]; then engine_works 2> "$files/said" || unusable; fi
exit "$code"`;
}

/** A job without a number of cpus has the whole node, whose cores count once, as in a local run. */
const CPUS = `cpus=\${WEFT_CPUS:-0}
if [ "$cpus" -eq 0 ]; then
  cpus=$(lscpu -p=CORE,SOCKET 2>/dev/null | grep -v '^#' | sort -u | wc -l)
  [ "$cpus" -gt 0 ] || cpus=$(nproc)
fi`;
