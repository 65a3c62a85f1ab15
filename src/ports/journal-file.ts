// One append-only local file. No promise beyond the life of the operating system: a machine that
// restarts has ended every process the file is about.

export interface JournalFile {
  /** Everything written so far; empty for a new file. */
  read(): Uint8Array;
  append(bytes: Uint8Array): void;
  /** Puts other content in its place, all or nothing. */
  replace(bytes: Uint8Array): void;
  close(): void;
}
