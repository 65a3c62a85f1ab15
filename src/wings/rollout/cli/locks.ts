// One command at a time changes a machine. Another one waits for it a while and says so; each lock
// is given back at the end, also when somebody ends the command.

import { hostname, userInfo } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatDuration } from '../../../kernel/base/duration.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import {
  type Held,
  type Holder,
  type Other,
  parseTaken,
  releaseScript,
  removeCommand,
  STALE_S,
  takeScript,
} from '../core/lock.ts';
import type { Places } from '../core/places.ts';
import type { Plan } from '../core/plan.ts';
import type { Ssh } from './ssh.ts';
import { lastLine, Stopped } from './stopped.ts';

const SCRIPT_MS = 60_000;
/** How long another command is waited for. */
const WAIT_MS = 120_000;
const LOOK_MS = 2000;
/** How long a machine may take to be left by a command that somebody ends. */
const LEAVE_MS = 5000;
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** What of `Ssh` is needed. */
type Remote = Pick<Ssh, 'script' | 'last' | 'stop'>;

/** A machine that is to be changed. */
export interface Site {
  readonly host: string;
  readonly places: Places;
  readonly as: Plan['as'];
}

export class Locks {
  readonly #context: Pick<Context, 'note'>;
  readonly #ssh: Remote;
  readonly #by: string;
  readonly #held = new Map<string, { site: Site; held: Held }>();
  readonly #waitMs: number;

  constructor(context: Pick<Context, 'note'>, ssh: Remote, command: string, waitMs = WAIT_MS) {
    this.#context = context;
    this.#ssh = ssh;
    this.#by = `${command} of ${userName()}@${hostname()}`;
    this.#waitMs = waitMs;
  }

  /** Runs all of a command's work; who ends it leaves no machine locked. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const onSignal = (signal: keyof typeof SIGNALS): void => {
      const code = SIGNALS[signal];
      this.#ssh.stop();
      void Promise.race([this.#releaseAll(), sleep(LEAVE_MS)]).then(() => process.exit(code));
    };
    const names = Object.keys(SIGNALS) as (keyof typeof SIGNALS)[];
    for (const name of names) process.on(name, onSignal);
    try {
      return await work();
    } finally {
      for (const name of names) process.off(name, onSignal);
    }
  }

  /** Throws `Stopped` where another command is at work for too long. */
  async hold<T>(site: Site, work: (places: Held) => Promise<T>): Promise<T> {
    // Not imported: every listing would load it.
    const { randomBytes } = process.getBuiltinModule('node:crypto');
    const holder = { token: randomBytes(8).toString('hex'), by: this.#by };
    const held = { ...site.places, holder };
    // Before it is asked for: who ends this meanwhile leaves none that was just taken.
    this.#held.set(holder.token, { site, held });
    try {
      await this.#take(site, holder);
      return await work(held);
    } finally {
      this.#held.delete(holder.token);
      await this.#release(site, held);
    }
  }

  async #take(site: Site, holder: Holder): Promise<void> {
    const { host, places, as } = site;
    const end = performance.now() + this.#waitMs;
    for (let looks = 0; ; looks += 1) {
      const script = takeScript(places, holder);
      const answer = await this.#ssh.script(host, script, { as, timeoutMs: SCRIPT_MS });
      const taken = parseTaken(answer.out);
      if (!taken.ok || answer.code !== 0) {
        const why = lastLine(answer.error) || (taken.ok ? `exit ${answer.code}` : taken.error);
        throw new Stopped(`it cannot be told that somebody is at work there: ${why}`, '');
      }
      if (taken.value.isTaken) return this.#tellOfCutOff(host, taken.value.after);
      const { other } = taken.value;
      if (performance.now() > end) throw new Stopped(atWork(other), wayOut(site, other));
      if (looks === 0) this.#context.note(`${host}: waits, as ${atWork(other)}. ${wayOn(site)}`);
      await sleep(LOOK_MS);
    }
  }

  #tellOfCutOff(host: string, after: Other | null): void {
    if (after === null) return;
    const ago = seconds(after.quietS);
    this.#context.note(`${host}: goes on from where ${after.by} was cut off, ${ago} ago`);
  }

  async #release({ host, as }: Site, held: Held): Promise<void> {
    try {
      await this.#ssh.last(host, releaseScript(held), { as, timeoutMs: SCRIPT_MS });
    } catch {
      // A machine that is out of reach keeps it until it is stale; what failed is told already.
    }
  }

  async #releaseAll(): Promise<void> {
    const all = [...this.#held.values()];
    await Promise.allSettled(all.map(({ site, held }) => this.#release(site, held)));
  }
}

const atWork = ({ by, ageS }: Other): string => `${by} is at work there (for ${seconds(ageS)})`;

const seconds = (amount: number): string => formatDuration(Math.max(1, amount) * 1000);

/** Said at once: whoever killed the other one need not wait to hear of it. */
const wayOn = ({ host, places, as }: Site): string =>
  `If that one was killed, type: ${removeCommand(places, host, as)}`;

function wayOut(site: Site, { quietS }: Other): string {
  const left = seconds(STALE_S - quietS);
  return `Run the same again when it has ended. One that was killed counts for ${left} more. ${wayOn(site)}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A uid without an account.
    return String(process.getuid?.() ?? '');
  }
}
