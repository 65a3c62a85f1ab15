// How a job of a container is started, word by word: on a node, in a local run and in an export the
// same. Text only; whoever starts it has made the folders.
/** Where a container finds what it is given and leaves what it has made. */
export const SAVE_IN_CONTAINER = '/distribute_save';
export const INPUT_IN_CONTAINER = '/input';
export function isEngineSolver(solver) {
  return solver?.kind === 'docker' || solver?.kind === 'podman';
}
/** The seed's own words: `--nv` is always there and does nothing on a node without gpus. */
export function apptainerArgv(start) {
  const binds = mountsOf(start).map(([host, inside]) => `${host}:${inside}:rw`);
  return [
    ...['apptainer', 'run', '--nv', '--app', 'distribute'],
    ...['--bind', binds.join(','), start.image, ...start.args],
  ];
}
/** Whether these folders can be named in the words above, which have `:` and `,` between them. */
export function canBind(folders) {
  return !folders.some((folder) => /[:,]/.test(folder));
}
/** Passed on to the container as they are outside. */
const VARIABLES = ['WEFT_BATCH', 'WEFT_JOB_NAME', 'WEFT_CPUS', 'OMP_NUM_THREADS'];
/**
 * `docker run …`, and `podman run …` for that kind, up to the limits, the image and its arguments. The
 * image is there already: one that is not must not be looked for by every job.
 */
export function engineWords({ solver, name, user, ...folders }) {
  const { kind, gpu, mounts } = solver;
  const gpus = kind === 'docker' ? ['--gpus', 'all'] : ['--device', 'nvidia.com/gpu=all'];
  return [
    ...[kind, 'run', '--rm', '--init', '--pull', 'never', '--name', name, '--user', user],
    // Elsewhere than with SELinux it does nothing; there the folders could not be read.
    ...['--security-opt', 'label=disable'],
    ...(gpu ? gpus : []),
    ...mountsOf({ ...folders, solver: { mounts } }).flatMap(([host, inside]) => {
      return ['--volume', `${host}:${inside}:rw`];
    }),
    ...['--env', `WEFT_INPUT=${INPUT_IN_CONTAINER}`, '--env', `WEFT_SAVE=${SAVE_IN_CONTAINER}`],
    ...VARIABLES.flatMap((variable) => ['--env', variable]),
  ];
}
function mountsOf({ save, input, binds, solver }) {
  const more = solver.mounts.map((inside, at) => [binds[at] ?? '', inside]);
  return [[save, SAVE_IN_CONTAINER], [input, INPUT_IN_CONTAINER], ...more];
}
