// Sessions between head and agents: whole messages, in order, until the session closes.

/** One live connection. After `onClose` nothing arrives any more. */
export interface Session {
  /** The name that authentication gave to the peer; empty on the dialling side. */
  readonly peer: string;
  /** Queues a whole message. Never blocks; a peer that does not read is closed at a bound. */
  send(message: Uint8Array): void;
  onMessage(handler: (message: Uint8Array) => void): void;
  onClose(handler: (why: string) => void): void;
  close(why: string): void;
}

/** The agent's side: dials the head. Rejects with words when it cannot. */
export interface Dialer {
  dial(): Promise<Session>;
}

/** The part of a stream that decides when its bytes go out. */
export interface Corkable {
  cork(): void;
  uncork(): void;
}

/**
 * To be called before each write: everything written in one turn of the event loop goes out in one
 * system call. With a thousand short tasks a second that is most of what a session costs.
 */
export function gatherWrites(stream: Corkable, endOfTurn: (then: () => void) => void): () => void {
  let corked = false;
  return () => {
    if (corked) return;
    corked = true;
    stream.cork();
    endOfTurn(() => {
      corked = false;
      stream.uncork();
    });
  };
}
