// Memory of tasks while they run: who is over a limit that the kernel does not keep, what each has
// for people to see, and which have lost a process to the kernel and go on, perhaps for ever.

import { MEMORY_USES_MAX } from '../model/limits.ts';
import type { MemoryUse } from '../model/memory-use.ts';
import type { Timer } from '../ports/clock.ts';
import type { GroupMemory } from '../ports/containment.ts';
import type { Epoch, Running } from '../runner/epoch.ts';
import type { Engine } from './engine.ts';
import { markOf } from './names.ts';
import type { AgentSettings, AllPorts } from './ports.ts';

/** Where no kernel keeps the limit. */
const POLL_EVERY_MS = 500;
/** For people, and for what the kernel has done: three reads of each group. */
const LOOK_EVERY_MS = 2000;

export class MemoryWatch {
  readonly #ports: AllPorts;
  readonly #settings: AgentSettings;
  readonly #engine: Engine;
  /** Called when the kernel has killed something more. */
  readonly #onKill: () => void;
  #timer: Timer | null = null;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** Memory of all tasks; null: nobody has looked yet. */
  #all: readonly MemoryUse[] | null = null;
  /** Those that are told. */
  #uses: readonly MemoryUse[] = [];

  constructor(
    ports: AllPorts,
    settings: AgentSettings,
    of: { readonly engine: Engine; readonly onKill: () => void },
  ) {
    this.#ports = ports;
    this.#settings = settings;
    this.#engine = of.engine;
    this.#onKill = of.onKill;
  }

  /** Memory of the tasks that run, by the last look. */
  get uses(): readonly MemoryUse[] {
    return this.#uses;
  }

  start(): void {
    const everyMs = this.#ports.containment.polled ? POLL_EVERY_MS : LOOK_EVERY_MS;
    this.#timer = this.#ports.clock.after(everyMs, () => {
      const running = [...this.#engine.state.epochs.values()].filter(isRunning);
      if (this.#isDue(running)) this.#look(running);
      this.start();
    });
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** Where no kernel keeps the limits, whoever has one is looked at more often. */
  #isDue(running: readonly Running[]): boolean {
    const isLate = this.#ports.clock.monotonic() - this.#lookedAt >= LOOK_EVERY_MS;
    return isLate || !this.#ports.containment.polled || running.some(isLimited);
  }

  #look(running: readonly Running[]): void {
    this.#lookedAt = this.#ports.clock.monotonic();
    const isFirst = this.#all === null;
    const before = new Map(this.#all?.map((use) => [use.epochId, use]));
    this.#all = [];
    this.#uses = [];
    if (running.length === 0) return;
    const memoryOf = this.#ports.containment.polled ? this.#polled() : this.#counted();
    const read = running.map((epoch) => ({ epoch, memory: memoryOf(epoch) }));
    // What was killed before the first look was killed before this agent was there, perhaps long
    // ago.
    const seenAt = isFirst ? null : this.#ports.clock.now();
    const uses = read.flatMap(({ epoch, memory }) => {
      const last = before.get(epoch.order.epochId);
      return memory === null ? [] : [useOf(epoch, memory, last, seenAt)];
    });
    this.#all = uses;
    const killedFirst = uses.toSorted((a, b) => Number(b.kills > 0) - Number(a.kills > 0));
    this.#uses = killedFirst.slice(0, MEMORY_USES_MAX);
    const isNew = uses.some(({ epochId, kills }) => kills > (before.get(epochId)?.kills ?? 0));
    if (isNew && !isFirst) this.#onKill();
    for (const { epoch, memory } of read) this.#judge(epoch, memory);
  }

  /** Ends what is over a limit that nobody else keeps, and what asked to be ended (J29). */
  #judge({ order }: Epoch, memory: GroupMemory | null): void {
    if (memory === null) return;
    const { polled } = this.#ports.containment;
    const { memoryBytes } = order.share.resources;
    const isOver = polled && memoryBytes > 0 && memory.bytes > memoryBytes;
    const isLost = memory.kills > 0 && order.onOom === 'end';
    if (isOver || isLost) this.#engine.step({ kind: 'memory_exceeded', epochId: order.epochId });
  }

  #polled(): (epoch: Running) => GroupMemory | null {
    const used = this.#ports.marks.memory();
    return ({ run }) => {
      const found = run.processes.flatMap(
        ({ launchId }) => used.get(markOf(this.#settings, launchId)) ?? [],
      );
      if (found.length === 0) return null;
      const bytes = found.reduce((sum, one) => sum + one, 0);
      // Whom the kernel kills nobody counts here.
      return { bytes, peakBytes: bytes, kills: 0 };
    };
  }

  #counted(): (epoch: Running) => GroupMemory | null {
    return ({ run }) => {
      const { group } = run.preparation;
      return group === null ? null : this.#ports.containment.memory(group);
    };
  }
}

/** @param seenAt null: nobody knows when it was killed */
function useOf(
  { order: { epochId } }: Epoch,
  { bytes, peakBytes, kills }: GroupMemory,
  last: MemoryUse | undefined,
  seenAt: number | null,
): MemoryUse {
  const isNew = kills > (last?.kills ?? 0);
  return {
    epochId,
    bytes,
    peakBytes: Math.max(peakBytes, last?.peakBytes ?? 0),
    kills,
    killedAt: isNew ? seenAt : (last?.killedAt ?? null),
  };
}

function isRunning(epoch: Epoch): epoch is Running {
  return epoch.phase === 'running';
}

function isLimited({ order }: Epoch): boolean {
  return order.share.resources.memoryBytes > 0;
}
