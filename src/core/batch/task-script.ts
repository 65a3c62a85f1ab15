// How a job of a batch is run as a task: a shell script that is the same for all of its jobs, and the
// job's command, which it is given. The solver is built by the first task that a node gets.

import { quoteWord } from '../base/shell-word.ts';
import type { BatchFile, BatchJob, ContainerSolver } from './batch.ts';
import { commandLine, VARIABLES } from './command-words.ts';
import { apptainerArgv, engineArgv } from './containers.ts';
import { fillIn } from './placeholders.ts';
import {
  BUILD_LOG_FILE,
  bindFolder,
  INITIAL_FOLDER,
  INPUT_FOLDER,
  programArgv,
  SAVE_FOLDER,
} from './programs.ts';

/** Where the files of a task lie in its directory before it starts; the script moves them. */
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

/**
 * The signal with which the script says that the build has failed. Programs use none of those that
 * are only numbers, so it can't be the job's own end.
 */
export const BUILD_FAILED_SIGNAL = 63;

/** `$1` is the name of the job, `$2` its command. */
export function taskScript(batch: BatchFile): string {
  const { solver } = batch;
  const isBuild = solver?.kind === 'build';
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
${isBuild ? buildPart(batch) : ''}
lay "$files/shared" "$work/${INPUT_FOLDER}"
lay "$files/own" "$work/${INPUT_FOLDER}"
lay "$files/program" "$work"
for one in "$work/${INPUT_FOLDER}" "$work/${SAVE_FOLDER}"; do
  [ -d "$one" ] || mkdir -- "$one" || exit 125
done
export WEFT_JOB_NAME="$job" WEFT_INPUT="$work/${INPUT_FOLDER}" WEFT_SAVE="$work/${SAVE_FOLDER}"
${solver === null || isBuild ? '' : `${imageLines(solver).join('\n')}\n`}eval "exec $line"
`;
}

/** The job's command for that script: one line, in which only the script's own variables are open. */
export function taskLine({ solver }: BatchFile, job: BatchJob): string {
  const args = job.args.map((text) => fillIn(text, new Map([['cpus', VARIABLES.cpus]])));
  if (solver === null || solver.kind === 'build') {
    return commandLine(programArgv(job.run ?? { as: '' }, args));
  }
  const { work, input, save, image, name, user } = VARIABLES;
  const binds = solver.mounts.map((_, at) => `${work}/${bindFolder(at)}`);
  const start = { solver, image, input, save, binds, args };
  if (solver.kind === 'apptainer') return commandLine(apptainerArgv(start));
  const engine = { ...start, name, user: solver.kind === 'docker' ? user : null };
  const { memoryBytes } = job;
  return commandLine(engineArgv({ ...engine, memoryBytes, cpus: VARIABLES.cpus }));
}

/** A job without a number of cpus has the whole node, whose cores count once, as in a local run. */
const CPUS = `cpus=\${WEFT_CPUS:-0}
if [ "$cpus" -eq 0 ]; then
  cpus=$(lscpu -p=CORE,SOCKET 2>/dev/null | grep -v '^#' | sort -u | wc -l)
  [ "$cpus" -gt 0 ] || cpus=$(nproc)
fi`;

/**
 * Builds where no finished build is. The lock goes with the process that holds it: the next task
 * begins anew, in another folder, whatever became of the first. Only a whole build gets its name. A batch
 * that it has failed for does not try it again: only another attempt of it does.
 */
function buildPart(batch: BatchFile): string {
  const { solver, origin } = batch;
  if (solver?.kind !== 'build') return '';
  const initial = origin === 'distribute' ? ` && cp -a ${INPUT_FOLDER} ${INITIAL_FOLDER}` : '';
  return `
build=\${WEFT_BUILDS:-$files}/\${WEFT_BUILD:-build-of-one}
tag="\${WEFT_BATCH:-} \${WEFT_BUILD:-} \${WEFT_BUILD_ATTEMPT:-}"
built=

# Tells the head that it was the build that failed.
build_failed() {
  cp -- "$build/log" "$work/${BUILD_LOG_FILE}"
  kill -${BUILD_FAILED_SIGNAL} $$
  exit 125
}

make_build() {
  rm -rf -- "$build"/attempt.*
  attempt=$build/attempt.$$
  mkdir -p -- "$attempt/${INPUT_FOLDER}" "$attempt/${SAVE_FOLDER}" || exit 125
  if [ -d "$files/shared" ]; then cp -a -- "$files/shared/." "$attempt/${INPUT_FOLDER}/" || exit 125; fi
  cp -a -- "$files/build/." "$attempt/" || exit 125
  echo "weft: building the solver on $(hostname)" >&2
  {
    (
      exec 9>&-
      cd -- "$attempt"${initial} || exit 125
      WEFT_JOB_NAME=_build WEFT_INPUT=$attempt/${INPUT_FOLDER} WEFT_SAVE=$attempt/${SAVE_FOLDER}
      export WEFT_JOB_NAME WEFT_INPUT WEFT_SAVE
      ${commandLine(programArgv(solver.build, []))}
    ) 2>&1
    echo $? > "$attempt.code"
  } 9>&- | tee -- "$build/log" 9>&- >&2
  code=$(cat -- "$attempt.code")
  rm -f -- "$attempt.code"
  if [ "$code" != 0 ]; then
    rm -rf -- "$attempt"
    echo "weft: the build ended with exit code $code" >> "$build/log"
    echo "weft: the build ended with exit code $code" >&2
    echo "$tag" >> "$build/failed"
    build_failed
  fi
  rm -rf -- "$attempt/${INPUT_FOLDER}" "$attempt/${SAVE_FOLDER}"
  mv -- "$attempt" "$build/products" && : > "$build/done" || exit 125
  rm -f -- "$build/failed"
}

if [ ! -e "$build/done" ]; then
  mkdir -p -- "$build" || exit 125
  exec 9>> "$build/lock"
  flock 9 || exit 125
  if [ ! -e "$build/done" ]; then
    if grep -qxF -e "$tag" "$build/failed" 2>/dev/null; then
      cat -- "$build/log" >&2
      build_failed
    fi
    rm -rf -- "$build/products"
    make_build
    built=yes
  fi
  exec 9>&-
fi
[ ! -e "$build/done" ] || true > "$build/done"
cp -a --reflink=auto -- "$build/products/." "$work/" || exit 125
[ -z "$built" ] || cp -- "$build/log" "$work/${BUILD_LOG_FILE}"
`;
}

function imageLines(solver: ContainerSolver): string[] {
  const { kind, mounts, isFile, image } = solver;
  const folders = mounts.map((_, at) => `mkdir -p -- "$work/${bindFolder(at)}"`);
  if (kind === 'apptainer') return [...folders, `image=$work/${TASK_LAYOUT.imageFile}`];
  const loaded = `image=$(${kind} load --input "$work/${TASK_LAYOUT.imageFile}" | sed -n 's/^Loaded image[^:]*: *//p' | tail -n 1)`;
  return [
    ...folders,
    isFile ? loaded : `image=${quoteWord(image)}`,
    'name=weft-$WEFT_JOB_ID-$WEFT_ARRAY_INDEX-$WEFT_EPOCH',
    ...(kind === 'docker' ? ['user=$(id -u):$(id -g)'] : []),
  ];
}
