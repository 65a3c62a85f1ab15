// One local file that is written from front to back, with room kept behind its end for a full disk.
// No promise beyond the life of the operating system: a machine that restarts has ended every
// process the file is about.

export interface JournalFile {
  /** Everything written so far, and zeros behind it; empty for a new file. */
  read(): Uint8Array;
  /**
   * Puts bytes at `offset`, over whatever was there. Throws when neither the disk nor the reserve
   * has room; what is behind `offset` is then not to be relied upon.
   */
  write(offset: number, bytes: Uint8Array): void;
  /** Puts other content in its place, with a whole reserve, all or nothing. */
  replace(bytes: Uint8Array): void;
  /** Fills the reserve behind the last write; false: it is not whole, as the disk has no room. */
  hasRoom(): boolean;
  close(): void;
}
