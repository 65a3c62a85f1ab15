// Who speaks at the other end of a unix socket of ours, as the kernel vouches for it.

import type { Result } from '../base/result.ts';
import type { Refusal } from '../model/errors.ts';

export interface ProvenUser {
  readonly name: string;
  readonly uid: number;
}

export interface Proofs {
  /** A directory to make, to be named after our socket; good for one `finish`. */
  begin(now: number): Promise<Result<{ challenge: string; path: string }, Refusal>>;
  finish(challenge: string, now: number): Promise<Result<ProvenUser, Refusal>>;
  /** Proofs count from now on, and only through this socket. */
  listensOn(socketPath: string): void;
}
