// How much the processes of this machine use.

export interface MachineUse {
  /** One look; what is measured in time counts from the machine's start. */
  look(): MachineLook;
}

/** Bytes since the machine was started. */
export interface MachineFlow {
  /** From and to all disks. */
  readonly readBytes: number;
  readonly writtenBytes: number;
  /** Over all networks. */
  readonly receivedBytes: number;
  readonly sentBytes: number;
}

export interface MachineLook {
  /** Null when the machine does not say. */
  readonly whole: { readonly cpuMs: number; readonly memoryBytes: number } | null;
  /** Null when the machine does not say. */
  readonly flow: MachineFlow | null;
  /** Null when the machine does not say. */
  readonly cpuCount: number | null;
  /**
   * By the mark of a launch (`WEFT_LAUNCH`): all sessions that have it, as those begun by others of
   * it do.
   */
  readonly byMark: ReadonlyMap<string, readonly SessionUse[]>;
}

/** All processes of one session. */
export interface SessionUse {
  /** No other one of this machine has or had it. */
  readonly name: string;
  readonly cpuMs: number;
  readonly memoryBytes: number;
  /** Bytes from and to disks. Absent: nobody says. */
  readonly disk?: DiskUse;
}

export interface DiskUse {
  readonly readBytes: number;
  readonly writtenBytes: number;
}
