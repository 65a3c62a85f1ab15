// Reads the owner's file every so often, and has the node say anew what it offers, and to whom,
// when that has changed.

import type { Kept } from '../../../kernel/agent/part.ts';
import { isSame } from '../../../kernel/base/same.ts';
import type { Clock, Timer } from '../../../kernel/ports/clock.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import type { OwnerFile } from '../model/owner-file.ts';

export interface RulesWorld {
  readonly clock: Clock;
  readonly log: Log;
  /** Never throws. */
  readonly read: () => OwnerFile;
  /** What the node offers has changed. */
  readonly onChange: () => void;
}

const LOOK_EVERY_MS = 5_000;
/** A fault is shown in lists. */
const FAULT_LENGTH_MAX = 160;
const NOTHING: OwnerFile = { rules: null, problem: null };

export class OwnerRulesWatch {
  readonly #world: RulesWorld;
  #said: OwnerFile = NOTHING;
  #kept: Kept | null = null;
  #timer: Timer | null = null;

  constructor(world: RulesWorld) {
    this.#world = world;
  }

  get rules(): OwnerFile['rules'] {
    return this.#said.rules;
  }

  get kept(): Kept | null {
    return this.#kept;
  }

  /** Reads it for the first time: before the node says of itself what it offers. */
  start(): void {
    this.#read();
    this.#wait();
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #wait(): void {
    this.#timer = this.#world.clock.after(LOOK_EVERY_MS, () => {
      if (this.#read()) this.#world.onChange();
      this.#wait();
    });
  }

  /** Whether the head has to be told. */
  #read(): boolean {
    const { log, read } = this.#world;
    const said = read();
    if (isSame(said, this.#said)) return false;
    this.#said = said;
    const { problem } = said;
    if (problem === null) log.info({ ...said.rules }, 'the owner of the machine has said');
    else log.warn({ problem }, 'what the owner of the machine says cannot be followed');
    const kept = keptBy(said);
    if (isSame(kept, this.#kept)) return false;
    this.#kept = kept;
    return true;
  }
}

/** A node whose rules cannot be read takes nothing new: nobody knows whose jobs it may run. */
function keptBy({ rules, problem }: OwnerFile): Kept | null {
  if (problem !== null) {
    const fault = `owner's file: ${problem}`.slice(0, FAULT_LENGTH_MAX);
    return { takesFrom: null, cpuCount: 0, gpuCount: 0, fault };
  }
  if (rules === null) return null;
  const { users, cpuCount, gpuCount } = rules;
  if (users === null && cpuCount === 0 && gpuCount === 0) return null;
  return { takesFrom: users, cpuCount, gpuCount, fault: null };
}
