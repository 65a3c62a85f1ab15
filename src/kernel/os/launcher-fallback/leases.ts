// How long processes may live after the head was last heard. Counted since boot, with the time that
// the machine was suspended, as a head goes on counting meanwhile.

import { uptime } from 'node:os';

export interface Leased {
  /** 0: it may live for ever. */
  leaseMs: number;
}

export class Leases {
  #heardAt = Number.NEGATIVE_INFINITY;

  /** The head answered what was sent then, in ms of CLOCK_MONOTONIC. */
  heard(monotonic: number): void {
    const age = Math.max(0, Number(process.hrtime.bigint() / 1_000_000n) - monotonic);
    this.#heardAt = Math.max(this.#heardAt, sinceBoot() - age);
  }

  lasts({ leaseMs }: Leased): boolean {
    return leaseMs === 0 || sinceBoot() < this.#heardAt + leaseMs;
  }
}

function sinceBoot(): number {
  return uptime() * 1000;
}
