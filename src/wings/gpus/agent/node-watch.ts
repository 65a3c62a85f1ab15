// The cards of one node: which they are, what the head is told of them, and which of them its tasks
// find.

import { markOf } from '../../../kernel/agent/names.ts';
import type { AgentInside, Companion, GpuReport } from '../../../kernel/agent/part.ts';
import { toPlainLine } from '../../../kernel/base/plain-line.ts';
import { isSame } from '../../../kernel/base/same.ts';
import type { Device } from '../../../kernel/model/device.ts';
import type { CardUse, GpuCard } from '../../../kernel/model/gpu.ts';
import type { EpochId } from '../../../kernel/model/ids.ts';
import { GPU_NOTES_MAX } from '../../../kernel/model/limits.ts';
import type { LaunchOrder, Share } from '../../../kernel/model/orders.ts';
import { heldEpochs } from '../../../kernel/runner/books.ts';
import { type Epoch, isNext, processesOf } from '../../../kernel/runner/epoch.ts';
import { corrected, warmth } from '../core/cells.ts';
import { DEVICES } from '../core/devices.ts';
import { fenceOf, shutBut } from '../core/fenced.ts';
import { keepsAt, withKeep } from '../core/keeps.ts';
import { type Nearby, nearCpus } from '../core/near-cpus.ts';
import { countedOf, inOrder, isSeen, nodeGpus, recall } from '../core/node-cards.ts';
import {
  type CardChoice,
  keptWhenIdle,
  ownCards,
  type UnmetName,
  unmetNames,
} from '../core/own-cards.ts';
import { oversOf } from '../core/shares.ts';
import type { Machine } from '../core/state.ts';
import { type Given, variablesOf } from '../core/variables.ts';
import { isFresh } from '../core/watch.ts';
import type { Keep } from '../model/keep.ts';
import type { KnownCards } from '../ports/known-cards.ts';
import type { Lookout, LookSettings, Viewer } from './lookout.ts';

export interface CardWatchSettings {
  readonly wish: CardChoice;
  readonly look: LookSettings;
  /** No other node of this program offers what the machine has. */
  readonly isAlone: boolean;
}

type CardShare = Pick<Share, 'gpus' | 'gpuShareBytes'>;

export class NodeWatch implements Companion, Viewer {
  readonly #agent: AgentInside;
  readonly #lookout: Lookout;
  readonly #settings: CardWatchSettings;
  readonly #known: KnownCards;
  #uuids: readonly string[] = [];
  #report: GpuReport | null = null;
  #keeps: readonly Keep[] = [];
  /** By epoch what was said of it first: its steps find the same, whoever is gone by then. */
  readonly #near = new Map<EpochId, readonly number[] | null>();

  constructor(
    agent: AgentInside,
    lookout: Lookout,
    settings: CardWatchSettings,
    known: KnownCards,
  ) {
    this.#agent = agent;
    this.#lookout = lookout;
    this.#settings = settings;
    this.#known = known;
    this.#recall();
    lookout.join(this);
  }

  get node(): string {
    return this.#agent.settings.node;
  }

  get uuids(): readonly string[] {
    return this.#uuids;
  }

  gpus(): GpuReport | null {
    return this.#report;
  }

  /** While a tool hangs its cards did not stand still: nothing is told of them. */
  cardUse(): readonly CardUse[] {
    const now = this.#agent.ports.clock.monotonic();
    const { everyMs } = this.#settings.look;
    return this.#uuids.flatMap((uuid, number) => {
      const card = this.#lookout.machine.cards.get(uuid);
      if (card === undefined || !isFresh(card, now, everyMs)) return [];
      const { busyPercent, memoryUsedBytes, watts, celsius, slowedBy, correctedErrors } = card.seen;
      const warm = warmth(watts ?? null, celsius ?? null);
      const errors = corrected(correctedErrors ?? null);
      const use = { number, busyPercent, memoryBytes: memoryUsedBytes, ...warm, ...errors };
      return [slowedBy === undefined ? use : { ...use, slowedBy }];
    });
  }

  begin(): void {
    this.#lookout.begin(this, this.#settings.look, this.#agent.ports.clock);
  }

  stop(): void {
    this.#lookout.leave(this);
  }

  *held(): Generator<string> {
    for (const number of this.#heldNumbers()) {
      const uuid = this.#uuids[number];
      if (uuid !== undefined) yield uuid;
    }
  }

  get instance(): string {
    return this.#agent.settings.instance;
  }

  *marked(): Generator<readonly [mark: string, task: string, uuids: readonly string[]]> {
    const { state, settings } = this.#agent;
    for (const epoch of state.epochs.values()) {
      const { epochId, share } = epoch.order;
      const uuids = share.gpus.flatMap((number) => this.#uuids[number] ?? []);
      for (const { launchId } of processesOf(epoch)) {
        yield [markOf(settings, launchId), epochId, uuids];
      }
    }
  }

  /** What a task with these cards, or a share of each, finds in its environment. */
  variables({ gpus: numbers, gpuShareBytes }: CardShare): Readonly<Record<string, string>> {
    const { cards } = this.#lookout.machine;
    const all = [...cards.values()].map(({ seen }) => seen);
    const given: Given = {
      numbers,
      cards: this.#cards().map((card) => {
        const ordinal = cards.get(card.uuid)?.seen.ordinal;
        return { ...card, ...(ordinal === undefined ? {} : { ordinal }) };
      }),
      vendors: new Set(all.map(({ vendor }) => vendor)),
      countOfMachine: all.length,
      shareBytes: gpuShareBytes ?? null,
    };
    return variablesOf(given);
  }

  /** Cpus near the cards of the task with this order, by which it is kept; null: it may use any. */
  near({ epochId, share }: LaunchOrder): readonly number[] | null {
    if (share.gpus.length === 0) return null;
    const known = this.#near.get(epochId);
    if (known !== undefined) return known;
    const before = [...this.nearby(epochId), ...this.#lookout.nearbyBut(this)];
    const near = nearCpus(this.#nearby(share), before, this.#lookout.cpus());
    const { epochs } = this.#agent.state;
    for (const one of this.#near.keys()) if (!epochs.has(one)) this.#near.delete(one);
    this.#near.set(epochId, near);
    return near;
  }

  *nearby(until: EpochId | null = null): Generator<Nearby> {
    for (const epoch of this.#agent.state.epochs.values()) {
      if (epoch.order.epochId === until) return;
      if (isUsing(epoch)) yield this.#nearby(epoch.order.share);
    }
  }

  #nearby({ gpus, resources }: Share): Nearby {
    const { cards } = this.#lookout.machine;
    const parts = gpus.map((number) => cards.get(this.#uuids[number] ?? '')?.seen.numaNode);
    return { parts, cpuCount: resources.cpuCount };
  }

  /** Devices of the machine's cards that a task with these may not open. */
  shut({ gpus }: CardShare): readonly Device[] {
    const own = gpus.map((number) => this.#uuids[number]);
    return shutBut(own, this.#lookout.machine);
  }

  onLook(machine: Machine): void {
    const { wish, look } = this.#settings;
    const isIdle = this.#heldNumbers().length === 0;
    const all = inOrder(machine);
    const had = isIdle ? keptWhenIdle(this.#uuids, all, wish) : this.#uuids;
    this.#uuids = ownCards(had, all, this.#lookout.takenBut(this), wish);
    const before = this.#report;
    const own = { uuids: this.#uuids, count: wish.count };
    const at = this.#agent.ports.clock.now();
    const fence =
      machine.cards.size === 0 ? null : fenceOf(machine, this.#agent.ports.containment.fence);
    const seen = nodeGpus(own, machine, look, { before: before?.gpus ?? null, at, fence });
    this.#keeps = keepsAt(this.#keeps, at);
    const shown = this.#withOvers(seen.cards, before?.gpus.cards ?? []);
    const unmet = machine.cards.size === 0 ? [] : unmetNames(all, wish);
    const notes = [...(seen.notes ?? []), ...unmet.map(unmetWords)].slice(0, GPU_NOTES_MAX);
    const kept = shown.map((card) => withKeep(card, this.#keeps));
    const gpus = {
      ...seen,
      lookMs: look.everyMs,
      cards: kept,
      ...(notes.length === 0 ? {} : { notes }),
    };
    if (machine.makers.size === 0 && gpus.cards.length === 0) return;
    const counted = this.#settings.isAlone ? countedOf(machine) : {};
    const report = { count: wish.count ?? gpus.cards.length, counted, gpus };
    if (isSame(report, before)) return;
    this.#tell(report, before);
  }

  #withOvers(cards: readonly GpuCard[], before: readonly GpuCard[]): readonly GpuCard[] {
    const { state, settings } = this.#agent;
    const shared = [...state.epochs.values()].filter((one) => {
      return one.order.share.gpuShareBytes !== undefined;
    });
    return cards.map(({ over: _, ...card }) => {
      const sharers = shared.flatMap((epoch) => {
        const { gpus, gpuShareBytes = 0 } = epoch.order.share;
        if (!gpus.includes(card.number)) return [];
        const marks = processesOf(epoch).map(({ launchId }) => markOf(settings, launchId));
        return [{ task: epoch.order.epochId, shareBytes: gpuShareBytes, marks }];
      });
      const ours = this.#lookout.machine.cards.get(card.uuid)?.ours ?? new Map<string, number>();
      const told = before.find(({ uuid }) => uuid === card.uuid)?.over;
      const over = oversOf(ours, sharers, told);
      return over === undefined ? card : { ...card, over };
    });
  }

  #tell(report: GpuReport, before: GpuReport | null): void {
    const { cards, remark } = report.gpus;
    if (remark !== (before?.gpus.remark ?? null)) {
      this.#agent.ports.log.warn({ remark }, 'the tools of the gpus tell of something');
    }
    const { fence } = report.gpus;
    if (fence?.holds === false && before?.gpus.fence?.holds !== false) {
      this.#agent.ports.log.warn(
        { why: fence.words },
        'tasks are not kept from the gpus of others',
      );
    }
    this.#report = report;
    if (!isSame(cards, before?.gpus.cards)) {
      this.#save();
    }
    const isOfferSame = isSame([report.count, report.counted], [before?.count, before?.counted]);
    if (isOfferSame) this.#agent.sayAlive();
    else this.#agent.introduce();
  }

  /** Null: the card is given to tasks again. Heard of at once, and after a restart. */
  keep(uuid: string, keep: Keep | null): void {
    const others = this.#keeps.filter((one) => one.uuid !== uuid);
    this.#keeps = keep === null ? others : [...others, keep];
    this.#save();
    this.onLook(this.#lookout.machine);
  }

  isKept(uuid: string): boolean {
    return keepsAt(this.#keeps, this.#agent.ports.clock.now()).some((keep) => keep.uuid === uuid);
  }

  get cards(): readonly GpuCard[] {
    return this.#cards();
  }

  tasksOn({ number }: GpuCard): string[] {
    const { state, ports } = this.#agent;
    const held = heldEpochs(state, ports.clock.now());
    return held.flatMap(({ epochId, share }) => (share.gpus.includes(number) ? [epochId] : []));
  }

  #save(): void {
    const { bootId } = this.#agent.settings;
    this.#known.save({ bootId, cards: this.#cards(), keeps: this.#keeps });
  }

  /** What is known from before, until the tools answer. */
  #recall(): void {
    const known = this.#known.load();
    if (known === null) return;
    const { settings, ports } = this.#agent;
    const isOld = known.bootId !== settings.bootId;
    this.#uuids = known.cards.map(({ uuid }) => uuid);
    this.#keeps = known.keeps ?? [];
    const now = ports.clock.now();
    const { devices } = this.#settings.look;
    // What the operator's program does not list any more has been taken off the list.
    this.#lookout.remember(
      known.cards.flatMap((card) => {
        const isListed = card.vendor === DEVICES;
        if (isListed && devices === null) return [];
        return [recall(card, now, { isOld: isOld || isListed })];
      }),
    );
  }

  #cards(): readonly GpuCard[] {
    return this.#report?.gpus.cards.filter(isSeen) ?? [];
  }

  #heldNumbers(): number[] {
    const { state, ports } = this.#agent;
    return heldEpochs(state, ports.clock.now()).flatMap(({ share }) => [...share.gpus]);
  }
}

/** A start that waits for a place has what its job holds there already. */
function isUsing(epoch: Epoch): boolean {
  return !isNext(epoch) && epoch.phase !== 'storing' && epoch.phase !== 'ended';
}

function unmetWords({ name, makers }: UnmetName): string {
  const words = `node.gpu_cards names '${toPlainLine(name.slice(0, 60), '?')}', which is`;
  if (makers.length === 0) return `${words} no gpu of this machine`;
  const clear = makers.map((maker) => `${maker}:${name}`).join(' or ');
  return `${words} a gpu of ${makers.join(' and of ')}, and given is none of them: write ${clear}`;
}
