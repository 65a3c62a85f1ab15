// Docker and podman: they run containers below themselves, in no group of the task that asks for
// one. Whatever ends or stops a task has to be said to them.

export const ENGINES = ['docker', 'podman'] as const;
export type Engine = (typeof ENGINES)[number];

/** An image that an engine has, or can fetch. */
export interface ContainerImage {
  readonly kind: Engine;
  readonly name: string;
}

/** The form that registries have; with a dash in front it would be an option. */
const IMAGE_NAME = /^[a-zA-Z0-9][\w./:@+-]{0,500}$/;

export function isImageName(text: string): boolean {
  return IMAGE_NAME.test(text);
}

/** Ends a container whose client was killed; it succeeds where there is none of that name. */
export function engineEndArgv(kind: Engine, name: string): string[] {
  return [kind, 'rm', '--force', name];
}

/** Stops what runs in a container where it is, or lets it go on. */
export function engineHoldArgv(kind: Engine, name: string, how: 'pause' | 'unpause'): string[] {
  return [kind, how, name];
}

/** A file in the directory of a task that has begun a container, until it has ended well. */
export function containerMark(kind: Engine): string {
  return `_weft/container-${kind}`;
}

/** The container of the process with this mark, which is its WEFT_LAUNCH. */
export function containerName(mark: string): string {
  return `weft-${mark.replaceAll(/[^A-Za-z0-9]/g, '-')}`;
}

/**
 * Shell lines that put the limits in front of the words that the script has: it has set `cpus`, and
 * `memory` in bytes, of which 0 is no limit.
 * @param prefix before the names of all variables, where others would be those of a user
 */
export function engineLimits(kind: Engine, prefix = ''): string {
  const [cpus, all] = [`${prefix}cpus`, `${prefix}all`];
  return `${all}=$(getconf _NPROCESSORS_ONLN)
  [ "$${cpus}" -le "$${all}" ] || ${cpus}=$${all}
${kind === 'docker' ? limitsOfDocker(prefix) : limitsOfPodman(prefix)}`;
}

function limitsOfDocker(prefix: string): string {
  const memory = `"$${prefix}memory"`;
  return `  [ ${memory} -eq 0 ] || set -- --memory ${memory} "$@"
  set -- --cpus "$${prefix}cpus" "$@"`;
}

/** Without root it has what its user was handed, and refuses a limit that it cannot set. */
function limitsOfPodman(prefix: string): string {
  const [memory, can] = [`"$${prefix}memory"`, `${prefix}can`];
  return `  ${can}=$(podman info --format '{{.Host.CgroupControllers}}' | tr '[]' '  ')
  case "$${can}" in *' memory '*) [ ${memory} -eq 0 ] || set -- --memory ${memory} "$@" ;; esac
  case "$${can}" in *' cpu '*) set -- --cpus "$${prefix}cpus" "$@" ;; esac`;
}

/** Shell text for who it is in the container: podman's root is the user outside. */
export function engineUser(kind: Engine): string {
  return kind === 'docker' ? '$(id -u):$(id -g)' : '0:0';
}
