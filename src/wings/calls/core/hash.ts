// A hash that is fed piece by piece, as those of `node:crypto` are.

export interface Hash {
  update(bytes: Uint8Array): unknown;
  digest(encoding: 'hex'): string;
}
