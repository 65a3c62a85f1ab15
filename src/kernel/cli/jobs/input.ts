// What comes on this process's standard input, and whether it is meant for a job.

/** Terminal: a person's keys. Nothing: closed, /dev/null, or a file that another program reads. */
export type InputKind = 'terminal' | 'pipe' | 'file' | 'nothing';

export interface Input {
  readonly kind: InputKind;
  /** Whether there is at least one byte now, as far as can be told; takes nothing. */
  isReady(): boolean;
  /** Whether there is at least one byte now; may take it. */
  hasBytes(): boolean;
  /** From now on it is read; once. */
  open(): NodeJS.ReadableStream & { destroy(): unknown };
}

/** Read ahead of the job: as much as one piece has. */
const BUFFER_BYTES_MAX = 1_048_576;

/** Bytes of the input that wait to be sent; the source is not read further while it is full. */
export class InputBuffer {
  readonly #stream: ReturnType<Input['open']>;
  #bytes: Buffer = Buffer.alloc(0);
  #isEnded = false;
  #error: Error | null = null;
  #wake: () => void = () => undefined;

  constructor(stream: ReturnType<Input['open']>) {
    this.#stream = stream;
    stream.on('data', (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
      if (this.#bytes.length >= BUFFER_BYTES_MAX) stream.pause();
      this.#wake();
    });
    stream.on('end', () => this.#end(null));
    stream.on('error', (error: Error) => this.#end(error));
  }

  get isEnded(): boolean {
    return this.#isEnded && this.#bytes.length === 0;
  }

  /** What has come; throws when the source could not be read to its end. */
  take(): Buffer {
    if (this.#error !== null) throw this.#error;
    const bytes = this.#bytes;
    this.#bytes = Buffer.alloc(0);
    if (bytes.length >= BUFFER_BYTES_MAX) this.#stream.resume();
    return bytes;
  }

  /** Resolves when something has come, at the end, or after this time. */
  wait(timeoutMs: number): Promise<void> {
    if (this.#bytes.length > 0 || this.#isEnded) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Nothing more is read, whatever comes; whoever waits goes on. */
  close(): void {
    this.#stream.destroy();
    this.#end(null);
  }

  #end(error: Error | null): void {
    this.#isEnded = true;
    this.#error ??= error;
    this.#wake();
  }
}
