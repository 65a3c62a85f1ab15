// Bounds of steps.

/** Steps of one task at once: somebody at a terminal has a few, a script that starts more has an error. */
export const STEPS_MAX = 64;
/** Processes of all steps of a task on one node at once: each has a helper of half a megabyte and two pipes. */
export const PROCESSES_MAX = 256;
/** Processes that are over and read, of all tasks of a node, which its agent still tells of: the newest. */
export const CLOSED_MAX = 300;
/** Steps of a task that are remembered, with those that are over: the newest. */
export const STEPS_KEPT_MAX = 256;
/** Tasks whose steps are remembered: the newest. */
export const TASKS_KEPT_MAX = 10_000;
/** Words of a program together, as a launcher's frame takes them with room for all else. */
export const ARGUMENT_BYTES_MAX = 256 * 1024;
/** A command is shown up to here. */
export const COMMAND_LENGTH_MAX = 500;
/** After its line is lost a step waits so long for the next one, and then it is hung up. */
export const LINGER_MS = 60_000;
/** Bytes on the way that the other side has not taken. */
export const WINDOW_BYTES = 256 * 1024;
/** One frame of a stream: what the helper on the node takes at once. */
export const PIECE_BYTES_MAX = 32 * 1024;
