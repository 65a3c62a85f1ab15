// How a job ended: exit code and words.

import type { JobView, TaskView } from '../../api/jobs.ts';
import { EXIT_CLUSTER_FAILURE, EXIT_OWN_FAILURE, EXIT_TIMEOUT } from '../../core/model/failure.ts';
import { formatExit } from '../output/words.ts';

type Ended = Pick<JobView | TaskView, 'outcome' | 'exit'>;

/**
 * The exit code of `run --wait` and `wait`: the job's own, 128 + n for signal n as shells have it,
 * 124 for a time-out and 126 or 127 for what could not be started, as timeout(1) and env(1), 123 for
 * what the cluster failed: 125 says that nobody knows how the job ended.
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

/** `failed (exit 3)`, `cancelled by alice`, `timeout`. */
export function outcomeWords({ outcome, exit }: Ended): string {
  if (outcome === null) return 'not done';
  const how = outcome.kind === 'completed' ? '' : formatExit(outcome.exit ?? exit);
  const where = outcome.process === null ? '' : ` on ${outcome.process.node}`;
  // A failed exit needs no second sentence that says the same.
  const told = outcome.detail === null || (outcome.kind === 'failed' && how !== '');
  // `cancelled by alice` says it all; `cancelled: cancelled by alice` would say it twice.
  if (outcome.kind === 'cancelled' && outcome.detail?.startsWith('cancelled'))
    return how === '' ? outcome.detail : `${outcome.detail} (${how}${where})`;
  const detail = told ? '' : `: ${outcome.detail}`;
  return `${outcome.kind}${how === '' ? '' : ` (${how}${where})`}${detail}`;
}
