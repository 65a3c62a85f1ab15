// Processes found by the mark in their environment (`WEFT_LAUNCH=…`), when nobody else knows them.

export interface Marks {
  /** Resident bytes per mark, over every process whose session began with that mark. */
  memory(): Map<string, number>;
  /** KILL to every process that carries one of the marks; how many lived. */
  kill(marks: ReadonlySet<string>): number;
}
