// Randomness as an argument, so that a simulated run is a function of its seed.

export interface Chance {
  /** Cryptographically strong in production. */
  bytes(count: number): Uint8Array;
  /** In [0, 1). For back-off jitter. */
  fraction(): number;
}
