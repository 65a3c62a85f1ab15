// Standard output and error as streams that may be slow, and the terminal as its keys come: what
// commands need that put another program in their place.

export interface RawTerminal {
  /** Resolves when the system has taken it, or nobody will. */
  out(bytes: Uint8Array): Promise<void>;
  error(bytes: Uint8Array): Promise<void>;
  /** 0: it does not say. */
  size(): { readonly rows: number; readonly columns: number };
  /** Until the function it gives is called. */
  onResize(changed: () => void): () => void;
  /** Keys neither echoed nor gathered to lines; signals of them are keys. Gives back how it was. */
  takeKeys(): () => void;
}
