// The goals in a file: read again once it has changed. Editors write a new file in its place, or
// empty it first: what is there counts when two looks in a row have found the same.

import { stat } from 'node:fs/promises';
import { isSame } from '../../../kernel/base/same.ts';
import { fileProblem } from '../../../kernel/config/file-problem.ts';
import type { Clock } from '../../../kernel/ports/clock.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import { readGoalFile } from '../config/read-goals.ts';
import type { GoalClass } from '../core/goal.ts';
import type { GoalSourceState } from '../head/source.ts';

interface GoalFileWorld {
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

export class GoalFile {
  readonly file: string;
  readonly #world: GoalFileWorld;
  /** How the file was when it was read last; null: nobody knows. */
  #readAs: string | null = null;
  #foundAs: string | null = null;
  #readAt: number;
  #problem: string | null = null;
  #isLooking = false;

  /** @param world whose goals of this file have just been read */
  constructor(world: GoalFileWorld, file: string) {
    this.#world = world;
    this.file = file;
    this.#readAt = world.clock.now();
  }

  /** Null when what is in the file is in force. */
  get state(): GoalSourceState | null {
    const problem = this.#problem;
    return problem === null ? null : { url: this.file, readAt: this.#readAt, problem };
  }

  /** New goals; null: they are those in force, or cannot be read. */
  async look(inForce: readonly GoalClass[]): Promise<readonly GoalClass[] | null> {
    if (this.#isLooking) return null;
    this.#isLooking = true;
    try {
      const found = await this.#mark();
      const isSettled = found === this.#foundAs;
      this.#foundAs = found;
      if (!isSettled || found === this.#readAs) return null;
      this.#readAs = found;
      return this.#read(inForce);
    } finally {
      this.#isLooking = false;
    }
  }

  #read(inForce: readonly GoalClass[]): readonly GoalClass[] | null {
    const { clock, log } = this.#world;
    const { file } = this;
    try {
      const classes = readGoalFile(file);
      const isMended = this.#problem !== null;
      [this.#readAt, this.#problem] = [clock.now(), null];
      const isNew = !isSame(classes, inForce);
      if (isNew || isMended) log.info({ file }, 'the goals were read again');
      return isNew ? classes : null;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#problem = why;
      log.warn({ file, why }, 'changed goals cannot be read; those before stay in force');
      return null;
    }
  }

  /** Other words for each change that can be seen from outside. */
  async #mark(): Promise<string> {
    try {
      const { dev, ino, size, mtimeNs, ctimeNs } = await stat(this.file, { bigint: true });
      return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
    } catch (error) {
      return fileProblem(error);
    }
  }
}
