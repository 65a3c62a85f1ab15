// How a job of a container is started, word by word: on a node, in a local run and in an export the
// same. Text only; whoever starts it has made the folders.

import type { ContainerSolver } from './batch.ts';

/** Where a container finds what it is given and leaves what it has made. */
export const SAVE_IN_CONTAINER = '/distribute_save';
export const INPUT_IN_CONTAINER = '/input';

export interface ContainerStart {
  readonly solver: Pick<ContainerSolver, 'kind' | 'gpu' | 'mounts'>;
  /** The path of an image file for apptainer, a name for the others. */
  readonly image: string;
  /** Folders of this job on its machine. */
  readonly save: string;
  readonly input: string;
  /** One for each of the solver's mounts, in their order. */
  readonly binds: readonly string[];
  readonly args: readonly string[];
}

/** What docker and podman need besides. */
export interface EngineStart extends ContainerStart {
  /** By it the container is ended when its client no longer can. */
  readonly name: string;
  /** `1000:100`: whom the files belong to that it writes; null: whoever the image says. */
  readonly user: string | null;
  readonly memoryBytes: number | null;
  readonly cpus: string | null;
}

/** The seed's own words: `--nv` is always there and does nothing on a node without gpus. */
export function apptainerArgv(start: ContainerStart): string[] {
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

/** `docker run …`, and `podman run …` for that kind. */
export function engineArgv(start: EngineStart): string[] {
  const { solver, user, memoryBytes, cpus } = start;
  const isDocker = solver.kind === 'docker';
  const gpus = isDocker ? ['--gpus', 'all'] : ['--device', 'nvidia.com/gpu=all'];
  return [
    ...[isDocker ? 'docker' : 'podman', 'run', '--rm', '--init', '--name', start.name],
    ...(solver.gpu ? gpus : []),
    // Without root podman makes the user of the container the one who started it.
    ...(user === null ? [] : ['--user', user]),
    ...(cpus === null ? [] : ['--cpus', cpus]),
    ...(memoryBytes === null ? [] : ['--memory', String(memoryBytes)]),
    ...mountsOf(start).flatMap(([host, inside]) => ['--volume', `${host}:${inside}:rw`]),
    ...['--env', `WEFT_INPUT=${INPUT_IN_CONTAINER}`, '--env', `WEFT_SAVE=${SAVE_IN_CONTAINER}`],
    ...[start.image, ...start.args],
  ];
}

/** Ends a container whose client was killed. */
export function engineEndArgv(kind: 'docker' | 'podman', name: string): string[] {
  return [kind, 'rm', '--force', name];
}

/** Makes an image of a file known to the runtime; it prints the image's name. */
export function engineLoadArgv(kind: 'docker' | 'podman', file: string): string[] {
  return [kind, 'load', '--input', file];
}

/** The name of an image in what `load` prints: `Loaded image: a:1`, or its number. */
export function loadedImage(printed: string): string | null {
  const names = [...printed.matchAll(/^Loaded image(?:\(s\)| ID)?: *(\S+)$/gm)];
  return names.at(-1)?.[1] ?? null;
}

function mountsOf({ save, input, binds, solver }: ContainerStart): (readonly [string, string])[] {
  const more = solver.mounts.map((inside, at) => [binds[at] ?? '', inside] as const);
  return [[save, SAVE_IN_CONTAINER], [input, INPUT_IN_CONTAINER], ...more];
}
