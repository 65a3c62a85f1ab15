// What wings have running in one agent, as one.

import type { CardUse, GpuCard } from '../model/gpu.ts';
import type { Presence } from '../model/presence.ts';
import type { Epoch } from '../runner/epoch.ts';
import type { AgentInside, AgentPart, Companion, GpuReport, Kept } from './part.ts';

export class Companions {
  readonly #all: readonly Companion[];
  #left: { of: GpuReport; count: number; report: GpuReport } | null = null;

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

  /** The report on gpus of the first companion that makes one, less the owner's gpus. */
  gpus(): GpuReport | null {
    for (const one of this.#all) {
      const gpus = one.gpus?.() ?? null;
      if (gpus !== null) return this.#withoutKept(gpus);
    }
    return null;
  }

  kept(): Kept | null {
    for (const one of this.#all) {
      const kept = one.kept?.() ?? null;
      if (kept !== null) return kept;
    }
    return null;
  }

  /** The same value as long as both are. */
  #withoutKept(report: GpuReport): GpuReport {
    const count = this.kept()?.gpuCount ?? 0;
    if (count === 0) return report;
    if (this.#left?.of !== report || this.#left.count !== count)
      this.#left = { of: report, count, report: withoutLast(report, count) };
    return this.#left.report;
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

/** Leaves out the last of those that tasks could have; what the owner uses already counts. */
export function withoutLast(report: GpuReport, count: number): GpuReport {
  const used = report.gpus.cards.filter(({ state }) => state === 'used_outside').length;
  const usable = report.gpus.cards.filter(({ state }) => state === 'free');
  const free = usable.slice(Math.max(0, usable.length - Math.max(0, count - used)));
  const cards = report.gpus.cards.map((card): GpuCard => {
    if (!free.includes(card)) return card;
    const why = 'left for the owner of the machine';
    return { ...card, state: 'used_outside', why, kept: true };
  });
  return { ...report, gpus: { ...report.gpus, cards } };
}
