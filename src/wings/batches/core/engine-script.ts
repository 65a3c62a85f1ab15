// Shell text for docker and podman, the same on a node, in a local run and in an export: an image
// is fetched once on a machine, and a job runs in a container that ends with it.

import { quoteWord } from '../../../kernel/base/shell-word.ts';
import { type Engine, engineLimits, engineUser } from '../../../kernel/model/container-engine.ts';
import type { BatchFile } from './batch.ts';
import { commandLine, VARIABLES } from './command-words.ts';
import { type EngineSolver, engineWords } from './containers.ts';
import { variablesOf } from './environment-script.ts';
import { bindFolder } from './programs.ts';

/**
 * Functions `known_image` and `make_image`: both set `image`, or fail. The script has set `store`,
 * a folder that is only for this image, and `archive` where the image comes as a file.
 */
export function imageFunctions({ kind, image, isFile }: EngineSolver): string {
  const [known, fetch, found] = isFile
    ? [
        'kept=$(cat -- "$store/image" 2> /dev/null) && find_image "$kept"',
        `${kind} load --input "$archive"`,
        // By its number: the name may be that of another image by now.
        `"$(sed -n 's/^Loaded image[^:]*: *//p' "$store/log" | tail -n 1)"`,
      ]
    : [`find_image ${quoteWord(image)}`, `${kind} pull ${quoteWord(image)}`, quoteWord(image)];
  return `# Programs of the system that the engine starts; temporary files where all jobs have theirs.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
unset TMPDIR

# Sets image to the number of the one that has this name.
find_image() {
  [ -n "$1" ] && image=$(${kind} image inspect --format '{{.Id}}' "$1" 2> /dev/null) && [ -n "$image" ]
}

known_image() {
  ${known}
}

# What ${kind} says is in the log and in standard error.
make_image() {
  rm -f -- "$store/image" "$store/code"
  command -v ${kind} > /dev/null || {
    echo "weft: ${kind} is not found on $(hostname), in PATH=$PATH" | tee -- "$store/log" >&2
    return 1
  }
  { { ${fetch} 2>&1; echo "$?" > "$store/code"; } | tee -- "$store/log" >&2; } 9>&-
  [ "$(cat -- "$store/code")" = 0 ] || return
  find_image ${found} || { echo "weft: ${kind} has brought no image" | tee -a -- "$store/log" >&2; return 1; }
  echo "$image" > "$store/image.new" && mv -- "$store/image.new" "$store/image"
}`;
}

/** What a container gets beside what every container does. */
export interface Given {
  /** Names of variables, which the script has. */
  readonly env: readonly string[];
  /** `own`: those of the job; `all`: those, or where nobody gives out gpus, all of the machine. */
  readonly gpus: 'none' | 'own' | 'all';
}

export function givenOf(batch: Pick<BatchFile, 'env' | 'jobs' | 'solver'>): Given {
  const isAsked = batch.jobs.some(({ gpuCount }) => (gpuCount ?? 0) > 0);
  const gpus = batch.solver?.gpu === true ? 'all' : isAsked ? 'own' : 'none';
  return { env: variablesOf(batch), gpus };
}

/** By uuid where the node knows its cards, else by their numbers on the machine. */
const OWN_GPUS = `\${WEFT_GPU_UUIDS:-$WEFT_GPUS}`;

/** The list has commas between its items. */
function gpuLines(kind: Engine, gpus: 'own' | 'all'): string {
  const [all, own] =
    kind === 'docker'
      ? ['--gpus all', `set -- --gpus "\\"device=${OWN_GPUS}\\"" "$@"`]
      : [
          '--device nvidia.com/gpu=all',
          `for gpu in $(echo "${OWN_GPUS}" | tr , " "); do set -- --device "nvidia.com/gpu=$gpu" "$@"; done`,
        ];
  const otherwise = gpus === 'all' ? `else set -- ${all} "$@"; ` : '';
  return `  if [ -n "\${WEFT_GPUS:-}" ]; then ${own}; ${otherwise}fi\n`;
}

/**
 * The function `in_container`: runs a job with these arguments and gives its exit code. The script
 * has set `work`, `image`, `name`, `cpus` and `memory`, in bytes; 0: there is no limit.
 */
export function containerFunctions(solver: EngineSolver, given: Given): string {
  const { kind } = solver;
  const { work, input, save, name, user } = VARIABLES;
  const binds = solver.mounts.map((_, at) => `${work}/${bindFolder(at)}`);
  const { env } = given;
  const words = commandLine(engineWords({ solver, input, save, binds, name, user, env }));
  const folders = binds.map((folder) => `  mkdir -p -- ${commandLine([folder])} || return 125\n`);
  return `# Runs the job in a container, which gets what the job has and ends with it.
in_container() {
${folders.join('')}  user=${engineUser(kind)}
  set -- "$image" "$@"
  ${engineLimits(kind)}
${given.gpus === 'none' ? '' : gpuLines(kind, given.gpus)}  # The client passes these on; this shell has to be there when the client is gone.
  trap : HUP INT QUIT USR1 USR2 ALRM TERM
  ${words} "$@"
  code=$?
  # From 125 on it may be the client alone that has ended.
  [ "$code" -lt 125 ] || ${kind} rm --force "$name" > /dev/null 2>&1
  return "$code"
}

# Whether ${kind} starts containers here. One without a program comes as far as its init, which says that
# there is none; before that only the engine itself has something to say, as of a helper that is missing.
engine_works() {
  said=$(${kind} run --rm --init --pull never --user "$user" --security-opt label=disable --entrypoint /weft/none "$image" 2>&1)
  case $said in *tini*|*catatonit*|*-init*) return 0 ;; esac
  printf '%s\\n' "$said" | grep -qE '^(Error: |docker: )' || return 0
  printf '%s\\n' "weft: ${kind} starts no container on $(hostname)" "$said" >&2
  return 1
}`;
}

/** Succeeds where apptainer is there, also by its older name, and says where it has looked. */
export const APPTAINER_CHECK = `command -v apptainer > /dev/null || command -v singularity > /dev/null || {
  echo "weft: apptainer is not found on $(hostname), in PATH=$PATH" >&2
  exit 127
}`;
