// Text from elsewhere: a file, a program's output, an HTTP address. Bounded in time and size.

export interface DataPlace {
  readonly from:
    | { readonly kind: 'file'; readonly path: string }
    | { readonly kind: 'command'; readonly argv: readonly string[] }
    | { readonly kind: 'url'; readonly url: string };
  readonly timeoutMs: number;
}

export interface DataReader {
  /** Rejects with words: it cannot be read, takes too long, or is too long. */
  read(place: DataPlace): Promise<string>;
}
