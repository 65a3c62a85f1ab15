// The other end of a line, as the machines about calls see it.

export interface Peer<M> {
  /** Never fails and never waits: what cannot be sent any more is dropped. */
  send(message: M): void;
  /** Cuts the line once what was sent is out; nothing of it is heard afterwards. */
  close(): void;
  /** Much waits to be sent: what may be dropped is not sent now. */
  readonly isBehind: boolean;
}
