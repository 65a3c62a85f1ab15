// What a machine can run containers with.

/** A program that is there, and whether it can be used by whoever looked. */
export interface ContainerRuntime {
  readonly name: string;
  /** Empty where it was not asked for. */
  readonly version: string;
  /** Why it cannot be used, in its own words; null: it can. */
  readonly problem: string | null;
}

/** Batches with such images run only on nodes with these labels. */
export function runtimeLabels(runtimes: readonly ContainerRuntime[]): string[] {
  return runtimes.flatMap(({ name, problem }) => (problem === null ? [name] : []));
}

/** For people: `docker 20.10.24; podman cannot be used: …`. */
export function runtimeWords(runtimes: readonly ContainerRuntime[]): string {
  return runtimes.length === 0 ? 'none' : runtimes.map(runtimeTextOf).join('; ');
}

function runtimeTextOf({ name, version, problem }: ContainerRuntime): string {
  if (problem !== null) return `${name} cannot be used: ${problem}`;
  return version === '' ? name : `${name} ${version}`;
}
