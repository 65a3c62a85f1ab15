// Memory of tasks while they run: who is over a limit that the kernel does not keep, what each has for
// people to see, and which have lost a process to the kernel and go on, perhaps for ever.

import type { EpochId } from '../core/model/ids.ts';
import { MEMORY_USES_MAX } from '../core/model/limits.ts';
import type { MemoryUse } from '../core/model/memory-use.ts';
import type { Epoch } from '../core/runner/state.ts';
import type { Timer } from '../ports/clock.ts';
import type { GroupMemory } from '../ports/containment.ts';
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
      this.#look();
      this.start();
    });
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #look(): void {
    const running = [...this.#engine.state.epochs.values()].filter(isLimited);
    const before = new Map(this.#uses.map((use) => [use.epochId, use]));
    this.#uses = [];
    if (running.length === 0) return;
    const memoryOf = this.#ports.containment.polled ? this.#polled() : this.#counted();
    const uses = running.flatMap((epoch) => {
      const memory = memoryOf(epoch);
      return memory === null ? [] : [this.#useOf(epoch, memory, before)];
    });
    this.#uses = uses.slice(0, MEMORY_USES_MAX);
    if (uses.some(({ epochId, kills }) => kills > (before.get(epochId)?.kills ?? 0)))
      this.#onKill();
    for (const epoch of running) this.#judge(epoch, memoryOf(epoch));
  }

  #useOf(
    { order: { epochId } }: Epoch,
    { bytes, peakBytes, kills }: GroupMemory,
    before: ReadonlyMap<EpochId, MemoryUse>,
  ): MemoryUse {
    const last = before.get(epochId);
    const isNew = kills > (last?.kills ?? 0);
    const killedAt = isNew ? this.#ports.clock.now() : (last?.killedAt ?? null);
    return {
      epochId,
      bytes,
      peakBytes: Math.max(peakBytes, last?.peakBytes ?? 0),
      kills,
      killedAt,
    };
  }

  /** Ends what is over a limit that nobody else keeps, and what asked to be ended (J29). */
  #judge({ order }: Epoch, memory: GroupMemory | null): void {
    if (memory === null) return;
    const { polled } = this.#ports.containment;
    const isOver = polled && memory.bytes > order.share.resources.memoryBytes;
    const isLost = memory.kills > 0 && order.onOom === 'end';
    if (isOver || isLost) this.#engine.step({ kind: 'memory_exceeded', epochId: order.epochId });
  }

  #polled(): (epoch: Epoch) => GroupMemory | null {
    const used = this.#ports.marks.memory();
    return ({ processes }) => {
      let bytes = 0;
      for (const { launchId } of processes)
        bytes += used.get(markOf(this.#settings, launchId)) ?? 0;
      return { bytes, peakBytes: bytes, kills: 0 };
    };
  }

  #counted(): (epoch: Epoch) => GroupMemory | null {
    return ({ preparation }) => {
      const group = preparation?.group ?? null;
      return group === null ? null : this.#ports.containment.memory(group);
    };
  }
}

function isLimited({ phase, order }: Epoch): boolean {
  return phase === 'running' && order.share.resources.memoryBytes > 0;
}
