// Runs the site's health check again and again: until it passes, this node gets no new work.

import type { Clock, Timer } from '../ports/clock.ts';
import type { CommandEnd, Commands } from '../ports/commands.ts';
import type { Log } from '../ports/log.ts';

/** The site's own judgement of a node: a program that looks at what Weft knows nothing of. */
export interface HealthSettings {
  readonly commands: Commands;
  /** Program and arguments. */
  readonly command: readonly string[];
  readonly timeoutMs: number;
  /** From the end of one check to the next. */
  readonly intervalMs: number;
}

export interface HealthWorld {
  readonly clock: Clock;
  readonly log: Log;
  /** Null when the site has no check. */
  readonly health: HealthSettings | null;
  /** The fault is another one than before, or none. */
  readonly onChange: () => void;
}

/** From the start of the agent until the first answer. */
const NOT_YET = 'not checked yet';
/** Length of what is shown of the output: more than a table shows of a line. */
const LINE_LENGTH = 200;
/** Kept to find the first line that says something. */
const KEPT_LENGTH = 2000;

export class HealthWatch {
  readonly #world: HealthWorld;
  #fault: string | null;
  #last: CommandEnd | null = null;
  #timer: Timer | null = null;
  #stopped = false;

  constructor(world: HealthWorld) {
    this.#world = world;
    this.#fault = world.health === null ? null : NOT_YET;
  }

  /** What is wrong by the last check; null: nothing. */
  get fault(): string | null {
    return this.#fault;
  }

  start(): void {
    const { health } = this.#world;
    if (health !== null) void this.#look(health);
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  async #look(health: HealthSettings): Promise<void> {
    const wrong = await this.#check(health);
    if (this.#stopped) return;
    this.#set(wrong === null ? null : `unhealthy: ${wrong}`);
    this.#timer = this.#world.clock.after(health.intervalMs, () => void this.#look(health));
  }

  /** What is wrong, on one line; null: nothing. None is run beside one that could not be ended. */
  async #check({ commands, command, timeoutMs }: HealthSettings): Promise<string | null> {
    if (this.#last?.isThere()) return `the previous health check still runs: ${this.#last.how}`;
    const keep = { part: 'first', length: KEPT_LENGTH } as const;
    this.#last = await commands.run({ argv: command, timeoutMs, keep });
    const { succeeded, how, output } = this.#last;
    return succeeded ? null : firstLine(output) || how;
  }

  #set(fault: string | null): void {
    if (fault === this.#fault) return;
    this.#fault = fault;
    this.#world.log.debug({ fault }, 'the health check has another answer');
    this.#world.onChange();
  }
}

/** Signs that steer terminals are left out: the line is shown to people. */
function firstLine(output: string): string {
  const lines = output.split('\n').map((line) => line.replaceAll(/\p{Cc}/gu, ' ').trim());
  return (lines.find((line) => line !== '') ?? '').slice(0, LINE_LENGTH);
}
