// How much the processes of this machine use.

export interface MachineUse {
  /** One look; what is measured in time counts from the machine's start. */
  look(): MachineLook;
}

export interface MachineLook {
  /** Null when the machine does not say. */
  readonly whole: { readonly cpuMs: number; readonly memoryBytes: number } | null;
  /** By the mark of a launch (`WEFT_LAUNCH`): of all processes of its session. */
  readonly byMark: ReadonlyMap<string, { readonly cpuMs: number; readonly memoryBytes: number }>;
}
