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
