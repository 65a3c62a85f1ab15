// Headers of an answer with captured output. No schemas here, so that the command line may load it.

/** With `follow`, `complete` and `dropped` come as trailers: they are known at the end only. */
export const LOG_HEADERS = {
  /** Which start of the task the output is of. */
  epoch: 'weft-log-epoch',
  /** Bytes that the head has of the file now. */
  size: 'weft-log-size',
  /** `true`: nothing more will come. */
  complete: 'weft-log-complete',
  /** Bytes left out because the file was over the limit. */
  dropped: 'weft-log-dropped',
} as const;

/** What they say, for the description of the API. */
export const LOG_HEADER_TEXTS: Readonly<Record<string, string>> = {
  [LOG_HEADERS.epoch]: 'Which start of the task the output is of: 1, 2, …',
  [LOG_HEADERS.size]: 'Bytes that the head has of the file now.',
  [LOG_HEADERS.complete]: 'true: nothing more will come. With follow=true a trailer.',
  [LOG_HEADERS.dropped]: 'Bytes left out because of head.log_limit. With follow=true a trailer.',
};
