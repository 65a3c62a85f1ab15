// The variable by which a local run of a batch finds what an earlier one has left running.

/** Begins its name. A cluster that a job starts outlives it, so its daemons do not carry it. */
export const CARRIED_PREFIX = 'WEFT_RUN_';
