// Pilots: agents that a foreign batch system hosts for a time. What is asked for, and how the parts
// of it are called.

/** Batch systems that can host them. */
export const PILOT_SYSTEMS = ['slurm', 'sge'] as const;
export type PilotSystem = (typeof PILOT_SYSTEMS)[number];

/** What each pilot of a fleet gets, and how it is asked for. */
export interface PilotRequest {
  readonly system: PilotSystem;
  /** What it offers as a node. */
  readonly cpuCount: number;
  /** Null: a share of its machine, by its cpus. */
  readonly memoryBytes: number | null;
  /** Null: as long as its batch system lets it. */
  readonly walltimeMs: number | null;
  /** One on each machine, which nobody else uses meanwhile. */
  readonly isolated: boolean;
  /** Partition or queue; null: the system's own default. */
  readonly queue: string | null;
  /** More words for each submission. */
  readonly options: readonly string[];
  /** The image in which the pilot runs; null: on the machine itself. */
  readonly image: string | null;
  readonly dockerArgs: readonly string[];
  /** There its output goes. */
  readonly directory: string;
  /** Directories that are the same where it runs. */
  readonly sharedPaths: readonly string[];
}

/** A fleet's name is in a label of its nodes, and begins their names. */
export const FLEET_NAME_FORM = '1 to 24 letters, digits and -, with a letter first';

export function isFleetName(text: string): boolean {
  return /^[a-z][a-z0-9-]{0,23}$/i.test(text);
}

/** On the nodes of a fleet, so that work can ask for them. */
export function fleetLabel(fleet: string): string {
  return `pilot=${fleet}`;
}

export function pilotNode(fleet: string, launch: number, index: number): string {
  return `${fleet}-${launch}-${index}`;
}

/** Unique among all jobs of the batch system: `tag` is of the fleet alone. */
export function launchName(tag: string, launch: number): string {
  return `${launchPrefix(tag)}${launch}`;
}

/** Names of all launches of a fleet begin so, and no others. */
export function launchPrefix(tag: string): string {
  return `weft-pilot-${tag}-`;
}

/** Name of a pilot's output, in the directory of its fleet. */
export function pilotLog(node: string): string {
  return `weft-${node}.log`;
}
