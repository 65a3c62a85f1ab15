// Who is at the other end of a connection to a unix socket. Node.js does not tell, and no table of
// the kernel does: something is asked that is handed the connections, many at once.

import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { ownerOf } from './sub-uids.ts';

/** The uids of the clients; null: cannot be told. */
export type UidsOf = (sockets: readonly Socket[]) => Promise<readonly (number | null)[]>;

/** Asked for at once: each is a descriptor of the program that is asked. */
const TOGETHER_MAX = 1024;
/** Beyond these nobody is told: whoever comes then is none that is known. */
const WAITING_MAX = 4096;
/** How long the first connections wait for others, so that the program is started once for all. */
const GAP_MS = 20;

interface Asked {
  readonly socket: Socket;
  readonly tell: (owner: string | null) => void;
}

export class PeerOwners {
  readonly #uidsOf: UidsOf;
  readonly #told = new WeakMap<Socket, Promise<string | null>>();
  #waiting: Asked[] = [];
  #isAsking = false;

  constructor(uidsOf: UidsOf) {
    this.#uidsOf = uidsOf;
  }

  /** One name for all that one user of this machine can have; null: nobody knows. */
  of(socket: Socket): Promise<string | null> {
    const known = this.#told.get(socket);
    if (known !== undefined) return known;
    if (this.#waiting.length >= WAITING_MAX) return Promise.resolve(null);
    const told = new Promise<string | null>((tell) => this.#waiting.push({ socket, tell }));
    this.#told.set(socket, told);
    if (!this.#isAsking) void this.#ask();
    return told;
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    while (this.#waiting.length > 0) {
      await wait(GAP_MS, undefined, { ref: false });
      const asked = this.#waiting.splice(0, TOGETHER_MAX);
      const uids = await this.#uidsOf(asked.map(({ socket }) => socket)).catch(() => []);
      for (const [at, { tell }] of asked.entries()) {
        const uid = uids[at] ?? null;
        tell(uid === null ? null : ownerOf(uid));
      }
    }
    this.#isAsking = false;
  }
}
