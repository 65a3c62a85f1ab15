// The file descriptors between a supervisor and its child, and the mark of calls.

/** Calls come in here; its end is the end of the child. */
export const CALLS_FD = 3;
/** Results go out here, each with one blocking write. */
export const RESULTS_FD = 4;

/**
 * In the environment of what a call starts: the mark of its process, and from the first call on the
 * call's number after it, of so many. Each new value of a variable stays in memory for ever.
 */
export const CALL_VARIABLE = 'WEFT_CALL';
export const CALL_MARKS = 4096;
