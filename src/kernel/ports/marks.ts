// Processes found by the mark in their environment (`WEFT_LAUNCH=…`), when nobody else knows them.

export interface Marks {
  /** Resident bytes per mark, over every process whose session began with that mark. */
  memory(): Map<string, number>;
  /** KILL to every process that carries one of the marks. */
  kill(marks: ReadonlySet<string>): Killed;
}

export interface Killed {
  /** How many had one of the marks and lived. */
  readonly lived: number;
  /** How many are in the middle of an exec and do not show what they carry: look again. */
  readonly unknown: number;
}
