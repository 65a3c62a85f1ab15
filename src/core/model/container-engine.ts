// Docker and podman: they run containers below themselves, in no group of the task that asks for one.
// Whatever ends or stops a task has to be said to them.

export const ENGINES = ['docker', 'podman'] as const;
export type Engine = (typeof ENGINES)[number];

/** Ends a container whose client was killed; it succeeds where there is none of that name. */
export function engineEndArgv(kind: Engine, name: string): string[] {
  return [kind, 'rm', '--force', name];
}

/** Stops what runs in a container where it is, or lets it go on. */
export function engineHoldArgv(kind: Engine, name: string, isHeld: boolean): string[] {
  return [kind, isHeld ? 'pause' : 'unpause', name];
}

/** A file in the directory of a task that has begun a container, until it has ended well. */
export function containerMark(kind: Engine): string {
  return `_weft/container-${kind}`;
}

/** The container of the process with this mark, which is its WEFT_LAUNCH. */
export function containerName(mark: string): string {
  return `weft-${mark.replaceAll(/[^A-Za-z0-9]/g, '-')}`;
}
