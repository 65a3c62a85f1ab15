// The file descriptors between a supervisor and its child, and the mark of calls.

/** Calls come in here; its end is the end of the child. */
export const CALLS_FD = 3;
/** Results go out here, each with one blocking write. */
export const RESULTS_FD = 4;

/**
 * In the environment of what a call starts: the mark of its process, and from the first call on the
 * call's number at its end, of so many. Each new value of a variable stays in memory for ever. All
 * are equally long: a copy of the process writes the call's over that with which it was started.
 */
export const CALL_VARIABLE = 'WEFT_CALL';
export const NO_CALL = '----';
const CALL_MARKS = 4096;

export function callMark(mark: string, run: number): string {
  const number = `${run % CALL_MARKS}`.padStart(NO_CALL.length, '0');
  return `${mark.slice(0, -NO_CALL.length)}${number}`;
}
