// Processes found by the mark in their environment (`WEFT_LAUNCH=…`), when nobody else knows them.

export interface Marks {
  /** Resident bytes per mark, over every process whose session began with that mark. */
  memory(): Map<string, number>;
  /**
   * KILL to every process that carries one of the marks. How many lived, and how many do not show
   * yet what they carry: nothing is left only when none are.
   */
  kill(marks: ReadonlySet<string>): number;
}
