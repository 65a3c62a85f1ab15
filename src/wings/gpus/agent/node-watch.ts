// The cards of one node: which they are, what the head is told of them, and which of them its tasks
// find.

import type { AgentInside, Companion, GpuReport } from '../../../kernel/agent/part.ts';
import { isSame } from '../../../kernel/base/same.ts';
import type { CardUse, GpuCard } from '../../../kernel/model/gpu.ts';
import type { Share } from '../../../kernel/model/orders.ts';
import { heldEpochs } from '../../../kernel/runner/books.ts';
import { countedOf, inOrder, isSeen, nodeGpus, recall } from '../core/node-cards.ts';
import { type CardChoice, keptWhenIdle, ownCards } from '../core/own-cards.ts';
import type { Machine } from '../core/state.ts';
import { type Given, variablesOf } from '../core/variables.ts';
import { isFresh } from '../core/watch.ts';
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
      const { busyPercent, memoryUsedBytes } = card.seen;
      return [{ number, busyPercent, memoryBytes: memoryUsedBytes }];
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

  onLook(machine: Machine): void {
    const { wish, look } = this.#settings;
    const isIdle = this.#heldNumbers().length === 0;
    const all = inOrder(machine);
    const had = isIdle ? keptWhenIdle(this.#uuids, all, wish) : this.#uuids;
    this.#uuids = ownCards(had, all, this.#lookout.takenBut(this), wish);
    const before = this.#report;
    const own = { uuids: this.#uuids, count: wish.count };
    const at = this.#agent.ports.clock.now();
    const gpus = nodeGpus(own, machine, look, { before: before?.gpus ?? null, at });
    if (machine.makers.size === 0 && gpus.cards.length === 0) return;
    const counted = this.#settings.isAlone ? countedOf(machine) : {};
    const report = { count: wish.count ?? gpus.cards.length, counted, gpus };
    if (isSame(report, before)) return;
    this.#tell(report, before);
  }

  #tell(report: GpuReport, before: GpuReport | null): void {
    const { bootId } = this.#agent.settings;
    const { cards, remark } = report.gpus;
    if (remark !== (before?.gpus.remark ?? null)) {
      this.#agent.ports.log.warn({ remark }, 'the tools of the gpus tell of something');
    }
    this.#report = report;
    if (!isSame(cards, before?.gpus.cards)) {
      this.#known.save({ bootId, cards: cards.filter(isSeen) });
    }
    const isOfferSame = isSame([report.count, report.counted], [before?.count, before?.counted]);
    if (isOfferSame) this.#agent.sayAlive();
    else this.#agent.introduce();
  }

  /** What is known from before, until the tools answer. */
  #recall(): void {
    const known = this.#known.load();
    if (known === null) return;
    const { settings, ports } = this.#agent;
    const isOld = known.bootId !== settings.bootId;
    this.#uuids = known.cards.map(({ uuid }) => uuid);
    this.#lookout.remember(known.cards.map((card) => recall(card, ports.clock.now(), { isOld })));
  }

  #cards(): readonly GpuCard[] {
    return this.#report?.gpus.cards.filter(isSeen) ?? [];
  }

  #heldNumbers(): number[] {
    const { state, ports } = this.#agent;
    return heldEpochs(state, ports.clock.now()).flatMap(({ share }) => [...share.gpus]);
  }
}
