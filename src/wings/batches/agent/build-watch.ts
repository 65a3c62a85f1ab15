// Looks whether the solvers of batches are built that tasks here wait for: their own time begins
// then.

import { workDirectory } from '../../../kernel/agent/names.ts';
import type { AgentSettings } from '../../../kernel/agent/ports.ts';
import { BUILT_MARK } from '../../../kernel/model/batch.ts';
import type { EpochId } from '../../../kernel/model/ids.ts';
import type { Clock, Timer } from '../../../kernel/ports/clock.ts';
import type { Files } from '../../../kernel/ports/files.ts';
import { type Epoch, isBuilding, isOpen, processesOf } from '../../../kernel/runner/epoch.ts';

const LOOK_EVERY_MS = 500;

export interface BuildWatchWorld {
  readonly clock: Clock;
  readonly files: Pick<Files, 'size'>;
  readonly settings: AgentSettings;
  readonly onBuilt: (epochId: EpochId) => void;
}

export class BuildWatch {
  readonly #world: BuildWatchWorld;
  readonly #watched = new Set<Epoch>();
  #timer: Timer | null = null;

  constructor(world: BuildWatchWorld) {
    this.#world = world;
  }

  /** Epochs that an earlier life has begun: looks before anybody judges how long they took. */
  adopt(epochs: Iterable<Epoch>): void {
    for (const epoch of epochs) this.watch(epoch);
    this.#look();
  }

  /** Does nothing for one that waits for no build. */
  watch(epoch: Epoch): void {
    if (!isBuilding(epoch)) return;
    this.#watched.add(epoch);
    this.#timer ??= this.#world.clock.after(LOOK_EVERY_MS, () => this.#lookAgain());
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #lookAgain(): void {
    this.#timer = null;
    this.#look();
    for (const epoch of this.#watched) this.watch(epoch);
  }

  #look(): void {
    const { files, settings, onBuilt } = this.#world;
    for (const epoch of this.#watched) {
      const { epochId } = epoch.order;
      const isOver = !isBuilding(epoch) || !processesOf(epoch).some(isOpen);
      const mark = `${workDirectory(settings, epochId)}/${BUILT_MARK}`;
      if (!isOver && files.size(mark) === null) continue;
      this.#watched.delete(epoch);
      if (!isOver) onBuilt(epochId);
    }
  }
}
