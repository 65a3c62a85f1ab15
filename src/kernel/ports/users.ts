// Accounts of this machine, by login name.

export interface UserAccount {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  /** All groups, the first one included. */
  readonly groups: readonly number[];
  readonly home: string;
  readonly shell: string;
}

export interface Users {
  /** The account that this program runs as. */
  self(): UserAccount;
  /** The account if it was looked up lately; undefined = ask `find`. Null: no such account. */
  cached(name: string): UserAccount | null | undefined;
  /** Looks the account up; null when the machine does not know it. Rejects when it cannot tell. */
  find(name: string): Promise<UserAccount | null>;
}
