// Headers of an answer with captured output. No schemas here, so that the command line may load it.

import type { Answer } from './exchange.ts';

/** While output is on its way, all but the first two are trailers: known at the end only. */
export const LOG_HEADERS = {
  /** Which start of the task the output is of. */
  epoch: 'weft-log-epoch',
  /** Bytes that the head has of the file now. */
  size: 'weft-log-size',
  /** `true`: all of it is here. */
  complete: 'weft-log-complete',
  /** Bytes left out because the file was over the limit. */
  dropped: 'weft-log-dropped',
  /** `true`: the task is over, and the rest of its output has not come. */
  lacking: 'weft-log-lacking',
} as const;

/** Whether an answer read to its end says that the task is over and this is not all. */
export function isLacking({ trailers, headers }: Pick<Answer, 'trailers' | 'headers'>): boolean {
  return (trailers[LOG_HEADERS.lacking] ?? headers[LOG_HEADERS.lacking]) === 'true';
}

/** What they say, for the description of the API. */
export const LOG_HEADER_TEXTS: Readonly<Record<string, string>> = {
  [LOG_HEADERS.epoch]: 'Which start of the task the output is of: 1, 2, …',
  [LOG_HEADERS.size]: 'Bytes that the head has of the file now.',
  [LOG_HEADERS.complete]: 'true: all of it is here. A trailer where output was still on its way.',
  [LOG_HEADERS.dropped]:
    'Bytes left out because of head.log_limit. A trailer where output was still on its way.',
  [LOG_HEADERS.lacking]:
    'true: the task is over, and the rest of its output has not come. A trailer, as the two above.',
};
