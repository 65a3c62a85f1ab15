// The line of a worker to the head: whole frames of calls, in order, until it closes.

/** One live connection. After `onClose` nothing arrives any more. */
export interface CallLine {
  send(frame: Uint8Array): void;
  /** Bytes that wait to be sent. */
  readonly bufferedBytes: number;
  onFrame(handler: (frame: Uint8Array) => void): void;
  onClose(handler: (why: string) => void): void;
  /** Once what was sent is out. */
  close(): void;
}

/** Rejects with words when the head cannot be reached. */
export type DialCalls = () => Promise<CallLine>;
