// How a job of a container is started, word by word: on a node, in a local run and in an export the
// same. Text only; whoever starts it has made the folders.

import type { Engine } from '../../../kernel/model/container-engine.ts';
import type { ContainerSolver } from './batch.ts';

/** Where a container finds what it is given and leaves what it has made. */
export const SAVE_IN_CONTAINER = '/distribute_save';
export const INPUT_IN_CONTAINER = '/input';

/** A solver that one of them runs. */
export interface EngineSolver extends ContainerSolver {
  readonly kind: Engine;
}

export function isEngineSolver(solver: { readonly kind: string } | null): solver is EngineSolver {
  return solver?.kind === 'docker' || solver?.kind === 'podman';
}

interface Folders {
  /** Folders of this job on its machine. */
  readonly save: string;
  readonly input: string;
  /** One for each of the solver's mounts, in their order. */
  readonly binds: readonly string[];
}

export interface ApptainerStart extends Folders {
  readonly solver: Pick<ContainerSolver, 'mounts'>;
  /** The path of an image file. */
  readonly image: string;
  readonly args: readonly string[];
}

export interface EngineStart extends Folders {
  readonly solver: Pick<EngineSolver, 'kind' | 'mounts'>;
  /** By it the container is ended when its client no longer can. */
  readonly name: string;
  /** `1000:100`: who it is in the container. */
  readonly user: string;
  /** Names of variables of the batch. */
  readonly env: readonly string[];
}

/** The seed's own words: `--nv` is always there and does nothing on a node without gpus. */
export function apptainerArgv(start: ApptainerStart): string[] {
  const binds = mountsOf(start).map(([host, inside]) => `${host}:${inside}:rw`);
  return [
    ...['apptainer', 'run', '--nv', '--app', 'distribute'],
    ...['--bind', binds.join(','), start.image, ...start.args],
  ];
}

/** Whether these folders can be named in the words above, which have `:` and `,` between them. */
export function canBind(folders: readonly string[]): boolean {
  return !folders.some((folder) => /[:,]/.test(folder));
}

/** Passed on to the container as they are outside. */
const VARIABLES = ['WEFT_BATCH', 'WEFT_JOB_NAME', 'WEFT_CPUS', 'OMP_NUM_THREADS'];

/**
 * `docker run …`, and `podman run …` for that kind, up to gpus, limits, the image and its
 * arguments. The image is there already: one that is not must not be looked for by every job.
 */
export function engineWords({ solver, name, user, env, ...folders }: EngineStart): string[] {
  const { kind, mounts } = solver;
  return [
    ...[kind, 'run', '--rm', '--init', '--pull', 'never', '--name', name, '--user', user],
    // Elsewhere than with SELinux it does nothing; there the folders could not be read.
    ...['--security-opt', 'label=disable'],
    ...mountsOf({ ...folders, solver: { mounts } }).flatMap(([host, inside]) => {
      return ['--volume', `${host}:${inside}:rw`];
    }),
    ...['--env', `WEFT_INPUT=${INPUT_IN_CONTAINER}`, '--env', `WEFT_SAVE=${SAVE_IN_CONTAINER}`],
    ...[...VARIABLES, ...env].flatMap((variable) => ['--env', variable]),
  ];
}

interface Mounted extends Folders {
  readonly solver: Pick<ContainerSolver, 'mounts'>;
}

function mountsOf({ save, input, binds, solver }: Mounted): (readonly [string, string])[] {
  const more = solver.mounts.map((inside, at) => [binds[at] ?? '', inside] as const);
  return [[save, SAVE_IN_CONTAINER], [input, INPUT_IN_CONTAINER], ...more];
}
