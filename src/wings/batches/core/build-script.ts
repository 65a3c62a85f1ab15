// The part of a task's script that makes its node ready: the solver is built, or its image fetched,
// by the first task that the node gets.

import { BUILD_LOG_FILE, SAVE_FOLDER } from '../../../kernel/files/folders.ts';
import { BUILT_MARK } from '../../../kernel/model/batch.ts';
import type { BatchFile, BuildSolver } from './batch.ts';
import { commandLine } from './command-words.ts';
import { type EngineSolver, isEngineSolver } from './containers.ts';
import { APPTAINER_CHECK, imageFunctions } from './engine-script.ts';
import { onlyOfBatch } from './environment-script.ts';
import { INITIAL_FOLDER, INPUT_FOLDER, programArgv } from './programs.ts';

/**
 * SIGSTKFLT, with which the script says that the build has failed. Linux sends it to nobody, so it
 * can't be the job's own end. A launcher in Node.js can tell it: of a program that a signal without
 * a name has ended Node.js says exit code 0.
 */
export const BUILD_FAILED_SIGNAL = 16;

/** Said by scripts of jobs that an earlier release has submitted. */
const EARLIER_SIGNAL = 63;

/** Whether a script that ended so says that the build has failed. */
export function isBuildFailure({ signal }: { readonly signal?: number }): boolean {
  return signal === BUILD_FAILED_SIGNAL || signal === EARLIER_SIGNAL;
}

/** Below the directory of a task. */
interface Layout {
  readonly imageFile: string;
}

/** Nothing for a solver that every job has with its files. */
export function buildPart(batch: BatchFile, { imageFile }: Layout): string {
  const { solver } = batch;
  if (solver?.kind === 'build') {
    return onceOnNode(buildFunctions(solver, batch), 'is_built', COPY_PRODUCTS);
  }
  if (solver === null) return '';
  if (!isEngineSolver(solver)) return APPTAINER_PART;
  return onceOnNode(fetchFunctions(solver, imageFile), 'known_image', USED_IMAGE);
}

/**
 * Builds where that has not been done. The lock goes with the process that holds it: the next task
 * begins anew, whatever became of the first. A batch that it has failed for does not try it again:
 * only another attempt of it does.
 */
function onceOnNode(functions: string, isDone: string, then: string): string {
  return `${HEAD}
built=
${FAILURES}
${functions}

if ! ${isDone}; then
  mkdir -p -- "$build" || exit 125
  exec 9>> "$build/lock"
  flock 9 || exit 125
  if ! ${isDone}; then
    if grep -qxF -e "$tag" "$build/failed" 2>/dev/null; then
      cat -- "$build/log" >&2
      build_failed
    fi
    make_build
    built=yes
    rm -f -- "$build/failed"
  fi
  exec 9>&-
fi
${then}[ -z "$built" ] || cp -- "$build/log" "$work/${BUILD_LOG_FILE}"
[ -d "$files" ] || mkdir -- "$files" || exit 125
: > "$work/${BUILT_MARK}"
`;
}

const HEAD = `
build=\${WEFT_BUILDS:-$files}/\${WEFT_BUILD:-build-of-one}
tag="\${WEFT_BATCH:-} \${WEFT_BUILD:-} \${WEFT_BUILD_ATTEMPT:-}"`;

const FAILURES = `
# Tells the head that it was the build that failed.
build_failed() {
  cp -- "$build/log" "$work/${BUILD_LOG_FILE}"
  kill -${BUILD_FAILED_SIGNAL} $$
  exit 125
}

# What is to run the container does not, as "$files/said" says: that is a build that failed, and no job.
unusable() {
  mkdir -p -- "$build" || exit 125
  cat -- "$files/said" >> "$build/log"
  cat -- "$files/said" >&2
  echo "$tag" >> "$build/failed"
  build_failed
}
`;

const APPTAINER_PART = `${HEAD}
${FAILURES}
[ -d "$files" ] || mkdir -- "$files" || exit 125
(${APPTAINER_CHECK}) 2> "$files/said" || unusable
: > "$work/${BUILT_MARK}"
`;

const COPY_PRODUCTS = `[ ! -e "$build/done" ] || true > "$build/done"
# The job's own program takes the place of a product of its name: it comes back over it.
for one in "$build/products"/* "$build/products"/.[!.]* "$build/products"/..?*; do
  name=\${one##*/}
  [ -e "$work/$name" ] || [ -L "$work/$name" ] || continue
  mkdir -p -- "$files/program" && mv -- "$work/$name" "$files/program/" || exit 125
done
cp -a --reflink=auto -- "$build/products/." "$work/" || exit 125
`;

/** Where it came without the script, there is nothing to keep. */
const USED_IMAGE = `[ ! -d "$build" ] || : > "$build/done"
`;

/** Another attempt is made in another folder; only a whole build gets its name. */
function buildFunctions({ build }: BuildSolver, batch: BatchFile): string {
  const initial =
    batch.origin === 'distribute' ? ` && cp -a ${INPUT_FOLDER} ${INITIAL_FOLDER}` : '';
  return `is_built() {
  [ -e "$build/done" ]
}

make_build() {
  rm -rf -- "$build/products" "$build"/attempt.*
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
${onlyOfBatch(batch)
  .map((line) => `      ${line}\n`)
  .join('')}      ${commandLine(programArgv(build, []))}
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
  # A machine that loses its power must not come back with a build that is empty.
  mv -- "$attempt" "$build/products" && { sync -f -- "$build/products" || sync; } || exit 125
  : > "$build/done" || exit 125
}`;
}

function fetchFunctions(solver: EngineSolver, imageFile: string): string {
  const how = solver.isFile ? 'loading' : 'pulling';
  return `store=$build
archive=$work/${imageFile}
${imageFunctions(solver)}

make_build() {
  echo "weft: ${how} the image on $(hostname)" >&2
  make_image && return
  echo "weft: the image cannot be used" | tee -a -- "$build/log" >&2
  echo "$tag" >> "$build/failed"
  build_failed
}`;
}
