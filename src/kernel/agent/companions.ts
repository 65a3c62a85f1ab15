// What wings have running in one agent, as one.

import type { CardUse } from '../model/gpu.ts';
import type { Presence } from '../model/presence.ts';
import type { Epoch } from '../runner/epoch.ts';
import type { AgentInside, AgentPart, Companion, GpuReport } from './part.ts';

export class Companions {
  readonly #all: readonly Companion[];

  constructor(parts: readonly AgentPart[], agent: AgentInside) {
    this.#all = parts.flatMap((part) => part.accompany?.(agent) ?? []);
  }

  adopt(): void {
    for (const one of this.#all) one.adopt?.();
  }

  begin(): void {
    for (const one of this.#all) one.begin?.();
  }

  started(epoch: Epoch): void {
    for (const one of this.#all) one.started?.(epoch);
  }

  ended(epoch: Epoch): void {
    for (const one of this.#all) one.ended?.(epoch);
  }

  greeted(hears: boolean): void {
    for (const one of this.#all) one.greeted?.(hears);
  }

  parted(): void {
    for (const one of this.#all) one.parted?.();
  }

  heard(wing: string, body: unknown): void {
    for (const one of this.#all) one.heard?.(wing, body);
  }

  /** What the first that looks has seen. */
  presence(): readonly Presence[] | null {
    for (const one of this.#all) {
      const presence = one.presence?.() ?? null;
      if (presence !== null) return presence;
    }
    return null;
  }

  /** What the first that looks at cards tells of them. */
  gpus(): GpuReport | null {
    for (const one of this.#all) {
      const gpus = one.gpus?.() ?? null;
      if (gpus !== null) return gpus;
    }
    return null;
  }

  cardUse(): readonly CardUse[] {
    return this.#all.flatMap((one) => one.cardUse?.() ?? []);
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((one) => one.close?.()));
  }

  stop(): void {
    for (const one of this.#all) one.stop?.();
  }
}
