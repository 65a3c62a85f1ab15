// The lines of a job's script that run it in a container.

import type { ContainerSolver } from '../batch.ts';
import { commandLine, VARIABLES } from '../command-words.ts';
import { apptainerArgv, type EngineSolver, isEngineSolver } from '../containers.ts';
import { containerFunctions, type Given, imageFunctions } from '../engine-script.ts';
import { bindFolder } from '../programs.ts';

interface Places {
  /** Below the folder of the export. */
  readonly imageFile: string;
  readonly images: string;
}

/** The last of them ends with the job's exit code. */
export function containerLines(
  { solver, given }: { readonly solver: ContainerSolver; readonly given: Given },
  args: readonly string[],
  places: Places,
): string[] {
  if (isEngineSolver(solver)) return engineLines({ solver, given }, args, places);
  const { work, input, save, image } = VARIABLES;
  const binds = solver.mounts.map((_, at) => `${work}/${bindFolder(at)}`);
  const [, ...words] = apptainerArgv({ solver, image, input, save, binds, args });
  return [
    ...binds.map((folder) => `mkdir -p -- ${commandLine([folder])}`),
    `image=$top/${places.imageFile}`,
    // The older name of the same program.
    'if command -v apptainer > /dev/null; then runtime=apptainer; else runtime=singularity; fi',
    `"$runtime" ${commandLine(words)}`,
  ];
}

/** Jobs of one node wait for the first of them; a lock on a shared folder holds for it alone. */
function engineLines(
  { solver, given }: { readonly solver: EngineSolver; readonly given: Given },
  args: readonly string[],
  { imageFile, images }: Places,
): string[] {
  return [
    'name=weft-$SLURM_JOB_ID',
    `memory=$(( (\${SLURM_MEM_PER_NODE:-0} + \${SLURM_MEM_PER_CPU:-0} * cpus) * 1048576 ))`,
    `archive=$top/${imageFile}`,
    `store=$top/${images}/$(hostname)`,
    imageFunctions(solver),
    'mkdir -p -- "$store" && exec 9>> "$store/lock" && flock 9 || exit 125',
    'known_image || make_image || exit 125',
    'exec 9>&-',
    containerFunctions(solver, given),
    `in_container ${commandLine(args)}`,
  ];
}
