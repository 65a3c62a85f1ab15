// What is counted over all tasks. Tasks themselves are facts of their jobs.

export interface TasksFacts {
  /** Counts signal orders, so that each is unique. */
  signalSerial: number;
}
