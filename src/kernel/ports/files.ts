// The few things an agent does with files. Small and synchronous where a short task pays for it;
// what is a user's is read and removed without following what the user may have put there.

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** What is at a path, links not followed. */
export interface FileLook {
  readonly size: number;
  /** Only its owner can read or write it, and it has no other name. */
  readonly isPrivate: boolean;
}

export interface Files {
  /** Makes the directory, and its parents as the agent's own; fine when it is there. */
  makeDirectory(path: string, owner: Owner | null, mode: number): void;
  /** Replaces the file. Only for directories that the agent itself owns. */
  writeFile(path: string, text: string, owner: Owner | null, mode: number): void;
  /** Size of a regular file, links not followed; null when there is none. */
  size(path: string): number | null;
  /** The same, and whether it is private to `uid`; null also when its owner shows nothing there. */
  look(path: string, uid: number | null): FileLook | null;
  /** Up to `bytesMax` from `offset`; empty unless a regular file of `uid` (null = anybody). */
  read(path: string, uid: number | null, offset: number, bytesMax: number): Uint8Array;
  /**
   * Empties a regular file that only `uid` can read or write and that has no other name. False when
   * it is not such a file: then nothing was changed. True when there is none.
   */
  empty(path: string, uid: number): boolean;
  /**
   * Gives the room of everything from `offset` on but the last `keep` bytes back to the disk; the
   * size stays, so that whoever writes goes on where he was. Nothing happens unless it is a regular
   * file of `uid`.
   */
  emptyFrom(path: string, uid: number | null, offset: number, keep: number): Promise<void>;
  /** Fine when it is gone already. */
  removeFile(path: string): void;
  /** Removes what is below with the rights of the directory's owner only, then the directory. */
  removeTree(path: string): Promise<void>;
  /** Names in a directory; empty when it is not there. */
  list(path: string): string[];
}
