// Which blobs are named by what the head keeps: live jobs, retained ones, archives. Derived from
// them, never stored: whoever makes it anew from the same facts gets the same.

import type { BlobHash } from '../../model/blob.ts';

interface Naming {
  readonly user: string;
  readonly hashes: ReadonlySet<BlobHash>;
}

export class References {
  readonly #namings = new Map<string, Naming>();
  /** How many namings each user has of a blob. */
  readonly #users = new Map<BlobHash, Map<string, number>>();

  /** `by`: what names them, as `job 42`; replaces what it named before. `user`: whose it is. */
  set(by: string, user: string, hashes: Iterable<BlobHash>): void {
    this.remove(by);
    const naming = { user, hashes: new Set(hashes) };
    if (naming.hashes.size === 0) return;
    this.#namings.set(by, naming);
    for (const hash of naming.hashes) {
      const users = this.#users.get(hash) ?? new Map<string, number>();
      this.#users.set(hash, users.set(user, (users.get(user) ?? 0) + 1));
    }
  }

  /** Fine when it named nothing. */
  remove(by: string): void {
    const naming = this.#namings.get(by);
    if (naming === undefined) return;
    this.#namings.delete(by);
    for (const hash of naming.hashes) this.#drop(hash, naming.user);
  }

  /** Whether anything names it: then it stays. */
  isNamed(hash: BlobHash): boolean {
    return this.#users.has(hash);
  }

  /** Whether this very thing names it. */
  isNamedIn(hash: BlobHash, by: string): boolean {
    return this.#namings.get(by)?.hashes.has(hash) === true;
  }

  /** Whether something of this user names it: then the user may read it. */
  isNamedBy(hash: BlobHash, user: string): boolean {
    return this.#users.get(hash)?.has(user) === true;
  }

  #drop(hash: BlobHash, user: string): void {
    const users = this.#users.get(hash);
    if (users === undefined) return;
    const left = (users.get(user) ?? 0) - 1;
    if (left > 0) users.set(user, left);
    else users.delete(user);
    if (users.size === 0) this.#users.delete(hash);
  }
}
