// Looks at what the tasks of one node and its machine use, and tells the head; what it does not
// take now is kept for a while.

import { markOf } from '../../../kernel/agent/names.ts';
import type { AgentInside, AgentPart, Companion } from '../../../kernel/agent/part.ts';
import type { Timer } from '../../../kernel/ports/clock.ts';
import { writeLooks } from '../core/said.ts';
import {
  GPUS_PER_LOOK_MAX,
  type GpuUse,
  LOOK_MS,
  LOOKS_KEPT_MAX,
  type Look,
  type NodeFlow,
  TASKS_PER_LOOK_MAX,
} from '../model/look.ts';
import { WING } from '../model/wing-name.ts';
import type { MachineFlow, MachineLook, MachineUse, SessionUse } from '../ports/machine-use.ts';

export function samplesPart(machine: MachineUse, everyMs = LOOK_MS): AgentPart {
  return { accompany: (agent) => new Sampler(agent, machine, everyMs) };
}

/** The look before: what is told are rates. */
interface Before {
  readonly at: number;
  readonly wholeMs: number | null;
  readonly flow: MachineFlow | null;
  /** By name. */
  readonly sessions: ReadonlyMap<string, SessionUse>;
}

interface RunningTask {
  readonly epochId: string;
  readonly marks: readonly string[];
  readonly numbers: readonly number[];
}

export class Sampler implements Companion {
  readonly #agent: AgentInside;
  readonly #machine: MachineUse;
  readonly #everyMs: number;
  #timer: Timer | null = null;
  #kept: Look[] = [];
  #before: Before | null = null;

  constructor(agent: AgentInside, machine: MachineUse, everyMs: number) {
    this.#agent = agent;
    this.#machine = machine;
    this.#everyMs = everyMs;
  }

  begin(): void {
    const { clock } = this.#agent.ports;
    this.#timer = clock.after(this.#everyMs, () => {
      this.look();
      this.begin();
    });
  }

  stop(): void {
    this.#timer?.cancel();
  }

  look(): void {
    const { clock } = this.#agent.ports;
    const look = this.#lookAt(this.#machine.look());
    if (look !== null) this.#kept.push(look);
    if (this.#kept.length > LOOKS_KEPT_MAX) this.#kept.shift();
    if (this.#kept.length === 0) return;
    // Of looks that come late the head must know how old they are, by whichever clock.
    if (this.#agent.say(WING, writeLooks(this.#kept, clock.monotonic()))) this.#kept = [];
  }

  /** Returns null when it is the first. */
  #lookAt({ whole, cpuCount, byMark, flow }: MachineLook): Look | null {
    const at = this.#agent.ports.clock.monotonic();
    const before = this.#before;
    this.#before = { at, wholeMs: whole?.cpuMs ?? null, flow, sessions: sessionsOf(byMark) };
    if (before === null || at <= before.at) return null;
    const rate = (spentMs: number): number => {
      const milli = Math.round((Math.max(0, spentMs) / (at - before.at)) * 1000);
      return cpuCount === null ? milli : Math.min(milli, cpuCount * 1000);
    };
    const node =
      whole === null || before.wholeMs === null
        ? null
        : {
            cpuMilli: rate(whole.cpuMs - before.wholeMs),
            memoryBytes: whole.memoryBytes,
            ...flowSince(before.flow, flow, at - before.at),
          };
    const gpus = this.#gpus();
    const tasks = this.#running().flatMap(({ epochId, marks, numbers }) => {
      const found = marks.flatMap((mark) => byMark.get(mark) ?? []);
      if (found.length === 0) return [];
      const memoryBytes = found.reduce((sum, one) => sum + one.memoryBytes, 0);
      const spent = (of: (one: SessionUse) => number) => spentBy(found, before.sessions, of);
      const cpuMilli = rate(spent(({ cpuMs }) => cpuMs));
      const use = { epochId, cpuMilli, memoryBytes, gpuMilli: workOf(gpus, numbers) };
      if (found.every(({ disk }) => disk === undefined)) return [use];
      const readBytes = spent(({ disk }) => disk?.readBytes ?? 0);
      const writtenBytes = spent(({ disk }) => disk?.writtenBytes ?? 0);
      return [{ ...use, disk: { readBytes, writtenBytes } }];
    });
    if (node === null && tasks.length === 0) return null;
    return { at, node, tasks, gpus };
  }

  /** Cards of which the tools of their driver say how much they are used. */
  #gpus(): GpuUse[] {
    const found: GpuUse[] = [];
    for (const { number, busyPercent, memoryBytes, ...warm } of this.#agent.cardUse()) {
      if (busyPercent === null || memoryBytes === null || found.length === GPUS_PER_LOOK_MAX)
        continue;
      const busy = Math.min(100, Math.max(0, Math.round(busyPercent)));
      found.push({ number, busyPercent: busy, memoryBytes, ...warm });
    }
    return found;
  }

  /** Tasks with the marks of their processes here, and the numbers of their gpus. */
  #running(): RunningTask[] {
    const { state, settings } = this.#agent;
    const found: RunningTask[] = [];
    for (const epoch of state.epochs.values()) {
      if (epoch.phase !== 'running') continue;
      const marks = epoch.run.processes.map(({ launchId }) => markOf(settings, launchId));
      const { epochId, share } = epoch.order;
      found.push({ epochId, marks, numbers: share.gpus });
      if (found.length === TASKS_PER_LOOK_MAX) break;
    }
    return found;
  }
}

function sessionsOf(byMark: MachineLook['byMark']): Map<string, SessionUse> {
  return new Map([...byMark.values()].flat().map((session) => [session.name, session]));
}

/** Each session by itself: one that has ended takes nothing off the others. */
function spentBy(
  sessions: readonly SessionUse[],
  before: ReadonlyMap<string, SessionUse>,
  of: (session: SessionUse) => number,
): number {
  // What was not there at the look before has begun since. What processes have used that have ended
  // and were waited for by nobody of the session is lost.
  return sessions.reduce((sum, session) => {
    const known = before.get(session.name);
    return sum + Math.max(0, of(session) - (known === undefined ? 0 : of(known)));
  }, 0);
}

/** Nothing where one of both looks does not know. */
function flowSince(
  before: MachineFlow | null,
  now: MachineFlow | null,
  ms: number,
): { readonly flow?: NodeFlow } {
  if (before === null || now === null) return {};
  // A disk or network that was taken out counts from nothing again.
  const rate = (name: keyof MachineFlow): number => {
    return Math.round((Math.max(0, now[name] - before[name]) / ms) * 1000);
  };
  const [readRate, writtenRate] = [rate('readBytes'), rate('writtenBytes')];
  const [receivedRate, sentRate] = [rate('receivedBytes'), rate('sentBytes')];
  return { flow: { readRate, writtenRate, receivedRate, sentRate } };
}

/**
 * What a card does counts for each who shares it; null: none of them is known. For the curve:
 * whether all are idle is for the head to say, who is told the cards, too.
 */
function workOf(gpus: readonly GpuUse[], numbers: readonly number[]): number | null {
  const own = gpus.filter(({ number }) => numbers.includes(number));
  return own.length === 0 ? null : own.reduce((sum, { busyPercent }) => sum + busyPercent * 10, 0);
}
