// How a job ended: exit code and words.

import type { JobView, TaskView } from '../../api/jobs.ts';
import { formatDuration } from '../../base/duration.ts';
import { formatSize } from '../../base/size.ts';
import { EXIT_CLUSTER_FAILURE, EXIT_OWN_FAILURE, EXIT_TIMEOUT } from '../../model/failure.ts';
import { formatExit } from '../output/words.ts';

type Ended = Pick<JobView | TaskView, 'outcome' | 'exit'>;
/** What it was given; a task has that of its job. */
export type Given = Pick<JobView, 'walltimeMs' | 'request'>;

/**
 * The exit code of `run --wait` and `wait`: the job's own, 128 + n for signal n as shells have it,
 * 124 for a time-out and 126 or 127 for what could not be started, as timeout(1) and env(1), 123
 * for what the cluster failed: 125 says that nobody knows how the job ended.
 */
export function exitCodeOf({ outcome, exit }: Ended): number {
  switch (outcome?.kind) {
    case 'completed':
      return 0;
    case 'failed':
      return ownCode(outcome.exit ?? exit) || 1;
    case 'timeout':
      return EXIT_TIMEOUT;
    case 'out_of_memory':
      return 137;
    case 'cancelled':
      return 143;
    case 'launch_failed':
      return /^cannot execute .*ENOENT/.test(outcome.detail ?? '') ? 127 : 126;
    case undefined:
      return EXIT_OWN_FAILURE;
    default:
      return EXIT_CLUSTER_FAILURE;
  }
}

function ownCode(exit: { code?: number; signal?: number } | null | undefined): number {
  return exit?.signal !== undefined ? 128 + exit.signal : (exit?.code ?? 1);
}

/** `failed (exit 3 on n2)`, `cancelled by alice`, `timeout: over its time limit of 10m`. */
export function outcomeWords(ended: Ended, given?: Given): string {
  const { outcome, exit } = ended;
  if (outcome === null) return 'not done';
  const { kind, process, detail } = outcome;
  // `cancelled by alice` says it all; `cancelled: cancelled by alice` would say it twice.
  if (kind === 'cancelled' && detail?.startsWith('cancelled')) return detail;
  const own = kind === 'failed' ? formatExit(outcome.exit ?? exit) : '';
  if (own !== '') return `${kind} (${own}${process === null ? '' : ` on ${process.node}`})`;
  // That is what completed means.
  const isZero = kind === 'completed' && (outcome.exit ?? exit)?.code === 0;
  const why = isZero ? '' : endRemark(ended, given);
  return why === '' ? kind : `${kind}: ${why}`;
}

/**
 * Beside the word for the outcome: `exit 3`, `over its time limit of 10m`. How a process ended is
 * told where it decided: one that the cluster ended was killed by a signal, and that is not why.
 */
export function endRemark({ outcome, exit }: Ended, given?: Given): string {
  if (outcome === null) return '';
  const detail = outcome.detail ?? '';
  switch (outcome.kind) {
    case 'completed':
    case 'failed':
      return formatExit(outcome.exit ?? exit) || detail;
    case 'timeout':
      return timeoutWords(detail, given);
    case 'out_of_memory':
      return memoryWords(detail, given);
    default:
      return detail || formatExit(outcome.exit ?? exit);
  }
}

function timeoutWords(detail: string, given?: Given): string {
  const limit = given?.walltimeMs ?? null;
  // A build has a limit of its own, and its words say which.
  if (detail !== '' && detail !== REACHED) return detail;
  return `over its time limit${limit === null ? '' : ` of ${formatDuration(limit)}`}`;
}

/** What the head says of a task over the limit of its job. */
const REACHED = 'reached its time limit';

function memoryWords(detail: string, given?: Given): string {
  const bytes = given?.request.perNode.memoryBytes ?? 0;
  if (detail !== '') return detail.replace(/^exceeded its/, 'over its memory');
  return bytes === 0 ? 'out of memory' : `over its memory limit of ${formatSize(bytes)}`;
}
