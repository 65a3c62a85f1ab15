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
