// The file behind a log. What cannot be written is counted and said when there is room again: a
// program must not end because its log is full.

import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** Names and commands of users are in it: for its owner and those that its group may be. */
const MODE = 0o640;

export class LogFile {
  readonly #path: string;
  #file: number;
  /** Lines that could not be written since the last that could. */
  #lost = 0;
  /** The last line is there in part: the next must not go on in it. */
  #torn = false;
  #onRoom: (lost: number) => void = () => undefined;

  /** Opens or makes the file and its directory. Throws when it cannot. */
  constructor(path: string) {
    this.#path = path;
    mkdirSync(dirname(path), { recursive: true });
    this.#file = openSync(path, 'a', MODE);
  }

  /** `said` writes the line that tells how many are missing; it comes before the next line. */
  onRoom(said: (lost: number) => void): void {
    this.#onRoom = said;
  }

  write(line: string): void {
    const lost = this.#lost;
    if (lost > 0) {
      this.#lost = 0;
      this.#onRoom(lost);
      if (this.#lost > 0) {
        this.#lost = lost + 1;
        return;
      }
    }
    if (!this.#append(line)) this.#lost += 1;
  }

  /** After somebody has moved the file away; without success the old one goes on. */
  reopen(): void {
    try {
      const file = openSync(this.#path, 'a', MODE);
      closeSync(this.#file);
      this.#file = file;
    } catch {
      return; // Nowhere to say it but in the old file, which is still being written.
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  #append(line: string): boolean {
    const bytes = Buffer.from(this.#torn ? `\n${line}` : line);
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(this.#file, bytes, written);
    } catch {
      this.#torn ||= written > 0;
      return false; // Counted by the caller.
    }
    this.#torn = false;
    return true;
  }
}
