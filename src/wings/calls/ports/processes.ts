// The processes of this machine, as a worker has to see them to end what its calls have started.

export interface SeenProcess {
  readonly pid: number;
  readonly parent: number;
  /** Ticks since boot; with the pid it is this process and no later one. */
  readonly startTicks: number;
}

export interface Processes {
  /** Those that live, but this one. */
  list(): readonly SeenProcess[];
  /** Entries ended by NULs. Null: there is none to read; undefined: it is not known yet. */
  environmentOf(pid: number): string | null | undefined;
  /** Now, in the unit of start ticks. */
  ticksNow(): number;
  isStillThere(seen: SeenProcess): boolean;
  /** False when there was nobody to signal, or nobody we may signal. */
  send(pid: number, signal: NodeJS.Signals): boolean;
}
