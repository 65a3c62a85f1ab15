// The files of tasks on their way here or to the head, one way at a time for each epoch.

import type { EpochId } from '../model/ids.ts';
import type { LaunchOrder } from '../model/orders.ts';
import type { Epoch } from '../runner/epoch.ts';
import type { RunnerInput } from '../runner/inputs.ts';
import { workDirectory } from './names.ts';
import type { AgentSettings, AllPorts } from './ports.ts';

export interface MovementsWorld {
  readonly ports: AllPorts;
  readonly settings: AgentSettings;
  readonly step: (input: RunnerInput) => void;
}

interface Movement {
  readonly controller: AbortController;
  /** What has to wait for its end. */
  readonly after: (() => void)[];
}

export class Movements {
  readonly #world: MovementsWorld;
  readonly #moving = new Map<EpochId, Movement>();
  /** What is to be kept once a head has welcomed this agent; null: one has. */
  #ungreeted: Set<() => void> | null = new Set();

  constructor(world: MovementsWorld) {
    this.#world = world;
  }

  /** Null: the order brings no files. Else `over` is called once they are here or will not be. */
  bringing({ epochId, staging }: LaunchOrder): AbortSignal | null {
    return staging?.inputs == null ? null : this.#begin(epochId);
  }

  over(epochId: EpochId): void {
    const movement = this.#moving.get(epochId);
    this.#moving.delete(epochId);
    for (const act of movement?.after ?? []) act();
  }

  /** One look into the directory: most tasks leave nothing, and nobody waits for that. */
  leaves({ order }: Epoch): boolean {
    const { ports, settings } = this.#world;
    const { staging = null, epochId } = order;
    if (staging === null || ports.staging === undefined) return false;
    if (staging.outputs?.length === 0 || staging.bytesMax === 0) return false;
    try {
      return ports.files.list(workDirectory(settings, epochId)).length > 0;
    } catch (error) {
      // Whoever keeps what is there will say why it cannot be.
      ports.log.warn({ error, epoch: epochId }, 'a work directory cannot be read');
      return true;
    }
  }

  /** Keeps what the task leaves; the runner hears of it unless that is given up. */
  store({ order, run }: Epoch): void {
    const { ports, settings, step } = this.#world;
    const { epochId } = order;
    const directory = workDirectory(settings, epochId);
    const uid = settings.switchUser ? (run?.preparation.uid ?? null) : null;
    const signal = this.#begin(epochId);
    this.#onceGreeted(signal, epochId, () => {
      const given = ports.staging?.store(order, { directory, uid }, signal);
      void (given ?? Promise.resolve(NOBODY_KEEPS)).then((result) => {
        const none = { files: 0, bytes: 0, leftOut: 0 };
        const stored = result.ok ? result.value : { ...none, problem: result.error };
        if (!signal.aborted) step({ kind: 'stored', epochId, stored });
        this.over(epochId);
      });
    });
  }

  /** A head has taken this agent for the node that it says to be. */
  greeted(): void {
    const waiting = [...(this.#ungreeted ?? [])];
    this.#ungreeted?.clear();
    this.#ungreeted = null;
    for (const act of waiting) act();
  }

  /**
   * A copy of the node's folder has its tasks, too: what is left of them there is nobody's result
   * (N18). Only a welcome tells the agent that it is not the copy.
   */
  #onceGreeted(signal: AbortSignal, epochId: EpochId, act: () => void): void {
    const waiting = this.#ungreeted;
    if (waiting === null) return act();
    waiting.add(act);
    const give = (): void => {
      if (waiting.delete(act)) this.over(epochId);
    };
    signal.addEventListener('abort', give, { once: true });
  }

  /** Gives up what moves for the epoch, and acts when nothing does any more. */
  end(epochId: EpochId, act: () => void): void {
    const movement = this.#moving.get(epochId);
    if (movement === undefined) return act();
    movement.after.push(act);
    movement.controller.abort(new Error('the task has ended'));
  }

  stop(): void {
    for (const { controller } of this.#moving.values()) {
      controller.abort(new Error('the agent stops'));
    }
  }

  #begin(epochId: EpochId): AbortSignal {
    const controller = new AbortController();
    this.#moving.set(epochId, { controller, after: [] });
    return controller.signal;
  }
}

const NOBODY_KEEPS = { ok: false, error: 'this node keeps no files' } as const;
