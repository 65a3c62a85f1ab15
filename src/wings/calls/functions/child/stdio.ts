// The file descriptors between a supervisor and its child.

/** Calls come in here; its end is the end of the child. */
export const CALLS_FD = 3;
/** Results go out here, each with one blocking write. */
export const RESULTS_FD = 4;
