// The owner of a machine, beside the agent of its node: who uses the machine is looked for, and a
// listener lets whoever may pause the node.

import type { AgentInside, AgentPart, Kept } from '../../../kernel/agent/part.ts';
import { isSame } from '../../../kernel/base/same.ts';
import type { Clock, Timer } from '../../../kernel/ports/clock.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import type { OwnerFile, OwnerRules } from '../model/owner-file.ts';
import type { Link, PauseListener } from './listener/pause-listener.ts';
import { type YieldSettings, YieldWatch } from './yield-watch.ts';

export interface OwnerOptions {
  /** When the node stands aside by itself; null: never. */
  readonly yielding: YieldSettings | null;
  /** What its owner says of it; absent: the owner has no file. */
  readonly rules?: OwnersWord | undefined;
  /** Longest pause that anybody may ask for; absent: the default. */
  readonly pauseMaxMs?: number | undefined;
  /** Lets owners in. Never rejects; absent: the node has no listener. */
  readonly open?: (
    agent: AgentInside,
    watch: YieldWatch,
    link: Link,
  ) => Promise<readonly PauseListener[]>;
}

export interface OwnersWord {
  readonly read: () => OwnerFile;
  /** The node's settings, with what the owner says on top of them. */
  readonly over: (rules: OwnerRules) => YieldSettings | null;
}

export function ownerPart({ yielding, rules, pauseMaxMs, open }: OwnerOptions): AgentPart {
  return {
    ...(pauseMaxMs === undefined ? {} : { pauseMaxMs }),
    accompany: (agent) => {
      const { clock, log } = agent.ports;
      const own =
        rules && new OwnerRulesWatch({ clock, log, read: rules.read, onChange: agent.introduce });
      const watch = new YieldWatch({
        clock,
        log,
        pausing: agent.pausing,
        settings: () => (own?.rules ? (rules?.over(own.rules) ?? null) : yielding),
        mayChange: own !== undefined,
        isUnknown: () => own?.isUnknown === true,
        gpus: () => agent.gpus(),
        onChange: agent.sayAlive,
      });
      const link = { isConnected: false };
      let opening: Promise<readonly PauseListener[]> | undefined;
      return {
        begin: () => {
          own?.start();
          watch.start();
          opening = open?.(agent, watch, link);
        },
        presence: () => watch.presence,
        kept: () => own?.kept ?? null,
        greeted: () => {
          link.isConnected = true;
        },
        parted: () => {
          link.isConnected = false;
        },
        close: async () => {
          await Promise.all(((await opening) ?? []).map((one) => one.close()));
        },
        stop: () => {
          own?.stop();
          watch.stop();
        },
      };
    },
  };
}

// Reads the owner's file every so often, and has the node say anew what it offers, and to whom,
// when that has changed.

interface RulesWorld {
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

class OwnerRulesWatch {
  readonly #world: RulesWorld;
  #said: OwnerFile = NOTHING;
  /** What the last look found. */
  #seen: OwnerFile = NOTHING;
  /** What the file said last that could be followed. */
  #rules: OwnerFile['rules'] = null;
  #kept: Kept | null = null;
  #timer: Timer | null = null;

  constructor(world: RulesWorld) {
    this.#world = world;
  }

  /** While the file cannot be followed, what it said before; null: nothing. */
  get rules(): OwnerFile['rules'] {
    return this.#rules;
  }

  /** The file cannot be followed, and nobody knows when the machine is to stand aside. */
  get isUnknown(): boolean {
    return this.#said.problem !== null && this.#rules === null;
  }

  get kept(): Kept | null {
    return this.#kept;
  }

  /** Reads it for the first time: before the node says of itself what it offers. */
  start(): void {
    this.#seen = this.#world.read();
    this.#take(this.#seen);
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

  /**
   * Whether the head has to be told. What two looks in a row find counts: an editor empties a file,
   * or takes it away, before it writes what is new.
   */
  #read(): boolean {
    const seen = this.#world.read();
    const isLasting = isSame(seen, this.#seen);
    this.#seen = seen;
    return isLasting && !isSame(seen, this.#said) && this.#take(seen);
  }

  #take(said: OwnerFile): boolean {
    const { log } = this.#world;
    this.#said = said;
    const { problem } = said;
    if (problem === null) this.#rules = said.rules;
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
