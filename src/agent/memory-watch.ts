// The memory limit where the kernel does not keep it: looks every so often and reports who is over.

import type { Timer } from '../ports/clock.ts';
import type { Engine } from './engine.ts';
import { markOf } from './names.ts';
import type { AgentSettings, AllPorts } from './ports.ts';

const LOOK_EVERY_MS = 500;

export class MemoryWatch {
  readonly #ports: AllPorts;
  readonly #settings: AgentSettings;
  readonly #engine: Engine;
  #timer: Timer | null = null;

  constructor(ports: AllPorts, settings: AgentSettings, engine: Engine) {
    this.#ports = ports;
    this.#settings = settings;
    this.#engine = engine;
  }

  /** Does nothing where groups keep the limit. */
  start(): void {
    if (!this.#ports.containment.polled) return;
    this.#timer = this.#ports.clock.after(LOOK_EVERY_MS, () => {
      this.#look();
      this.start();
    });
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #look(): void {
    const limited = [...this.#engine.state.epochs.values()].filter(
      (epoch) => epoch.phase === 'running' && epoch.order.share.resources.memoryBytes > 0,
    );
    if (limited.length === 0) return;
    const used = this.#ports.marks.memory();
    for (const { order, processes } of limited) {
      let bytes = 0;
      for (const { launchId } of processes)
        bytes += used.get(markOf(this.#settings, launchId)) ?? 0;
      if (bytes <= order.share.resources.memoryBytes) continue;
      this.#engine.step({ kind: 'memory_exceeded', epochId: order.epochId });
    }
  }
}
