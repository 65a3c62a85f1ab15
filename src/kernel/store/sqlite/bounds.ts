// Every number that bounds the work of the store's thread, each with the reason for it.

/** Appends merged into one transaction: far more than arrive during one sync of a slow disk. */
export const MERGED_APPENDS_MAX = 512;
/** Bytes merged into one transaction, so that one sync stays well under 100 ms. */
export const MERGED_BYTES_MAX = 8 * 1_048_576;
/** How long to wait for a person's own write transaction before refusing ours. */
export const BUSY_TIMEOUT_MS = 1000;
/** Pages (4 KiB) in the write-ahead log before they are copied into the main file: 8 MiB. */
export const CHECKPOINT_PAGES = 2000;
/** The log file is cut back to this after a large snapshot; below it, it is reused in place. */
export const LOG_FILE_BYTES_MAX = 32 * 1_048_576;
/** A journal page on its way to the head: large enough that the number of pages is small. */
export const RECOVERY_PAGE_BYTES = 4 * 1_048_576;
/** One row of a snapshot; between two of them waiting commits get their turn. */
export const SNAPSHOT_PART_BYTES = 1_048_576;
/** Journal records deleted in one transaction after a snapshot, for the same reason. */
export const TRIM_RECORDS = 5000;
/** Job ids looked at in one step of a history query, for the same reason: about 10 ms. */
export const QUERY_STEP_JOBS = 20_000;
/** Ends of tasks looked at in one step, newest first. */
export const QUERY_STEP_ENDS = 10_000;
/** Rows of the history deleted in one transaction: about 10 ms. */
export const PRUNE_STEP_ROWS = 1000;
/** Such transactions for one request: questions wait no longer than for these. */
export const PRUNE_CALL_STEPS = 20;
/** Bytes that `probe` writes: room for several ordinary commits. */
export const PROBE_BYTES = 262_144;
/** Bytes of a snapshot copied per turn of the head's event loop: a few milliseconds. */
export const COPY_BYTES = 1_048_576;
/** Held back for a full disk: some hundred commits that cancel jobs and record ends. */
export const RESERVE_BYTES = 16 * 1_048_576;
/** Free room with which it is made, or made again: otherwise it would itself fill a small disk. */
export const RESERVE_FREE_MIN_BYTES = 64 * 1_048_576;
