// Bounds of steps.

/**
 * Steps of one task at once: somebody at a terminal has a few, a script that starts more has an
 * error.
 */
export const STEPS_MAX = 64;
/**
 * Processes of all steps of a task on one node at once: each has a helper of half a megabyte and
 * two pipes.
 */
export const PROCESSES_MAX = 256;
/**
 * Processes that are over and read, of all tasks of a node, which its agent still tells of: the
 * newest.
 */
export const CLOSED_MAX = 300;
/**
 * Processes of one node of which nobody else knows that a head shows: the newest, more than
 * CLOSED_MAX.
 */
export const UNSURE_MAX = 512;
/** Steps of a task that are remembered, with those that are over: the newest. */
export const STEPS_KEPT_MAX = 256;
/** Steps of a job that are shown with it: the newest. */
export const STEPS_SHOWN_MAX = 256;
/** Steps of one answer that lists them. */
export const STEPS_PAGE_MAX = 1_000;
/** Tasks whose steps are remembered: the newest. */
export const TASKS_KEPT_MAX = 10_000;
/** What is said of a program, together, as a launcher's frame takes it with room for all else. */
export const PROGRAM_BYTES_MAX = 256 * 1024;
/** The same for all its processes on one node: the agent is told of each, and holds it. */
export const PROGRAM_BYTES_PER_NODE_MAX = 4 * 1024 * 1024;
/** A command is shown up to here. */
export const COMMAND_LENGTH_MAX = 500;
/** Processes in one word of what a node has: at their longest still well within a message. */
export const NEWS_PART_MAX = 2_000;
/** All of them, in as many words. */
export const NEWS_PROCESSES_MAX = 100_000;
/**
 * From the hang-up that a helper is told in its pipe to the signal of it, for one that does not
 * read; and from there to the kill. Longer than the helper itself waits for its program.
 */
export const HANG_UP_MS = 6_000;
/** After its line is lost a step waits so long for the next one, and then it is hung up. */
export const LINGER_MS = 60_000;
/** The longest that anybody may ask for: somebody who left on Friday is back on Monday. */
export const LINGER_MS_MAX = 4 * 86_400_000;
/** The shortest: a head that is started anew needs about so long. */
export const LINGER_MS_MIN = 1_000;
/** Bytes on the way that the other side has not taken. */
export const WINDOW_BYTES = 256 * 1024;
/** One frame of a stream: what the helper on the node takes at once. */
export const PIECE_BYTES_MAX = 32 * 1024;

/** For whoever wants to look at a process of a step to be joined with its node. */
export const WATCHED_MS = 10_000;
/** Those who look at one process at once. */
export const WATCHERS_MAX = 8;

/** For a node to say which cpus a task has to bind to: it only looks them up. */
export const CLAIM_MS = 5_000;
/** Questions of that kind on their way: of as many steps as have begun in that time. */
export const CLAIMS_MAX = 10_000;

/** Longest list of cpus that is told: every other one of a thousand. */
export const CPUS_LENGTH_MAX = 4096;
