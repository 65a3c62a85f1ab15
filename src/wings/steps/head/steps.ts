// The steps of a head: the book of them, their lines, and what nodes tell.

import type { AgentAcceptor } from '../../../kernel/head/http/services.ts';
import type { Event } from '../../../kernel/machine/declared.ts';
import type { NodeName } from '../../../kernel/model/ids.ts';
import type { Clock } from '../../../kernel/ports/clock.ts';
import { StepBook } from '../core/book.ts';
import { readNews, WING } from '../core/told.ts';
import { Lines } from './lines.ts';

export interface StepsWorld {
  readonly agents: AgentAcceptor;
  readonly clock: Clock;
}

export class Steps {
  readonly book = new StepBook();
  readonly lines = new Lines();
  readonly #world: StepsWorld;

  constructor(world: StepsWorld) {
    this.#world = world;
    world.agents.hearWing(WING, (node, body) => this.#hear(node, body));
  }

  committed(events: readonly Event[]): void {
    for (const event of events)
      if (event.kind === 'part_ended') this.book.endPart(event, this.#world.clock.now());
  }

  close(): void {
    this.lines.close();
  }

  #hear(node: NodeName, body: unknown): void {
    const news = readNews(body);
    if (news === null) return;
    const { isAll, processes } = news;
    if (isAll) {
      const lost = this.book.hearAll(node, processes, this.#world.clock.now());
      // Nobody comes to the other end any more: whoever waits asks again, and is told.
      for (const key of lost) this.lines.drop(key);
    } else for (const told of processes) this.book.hear(node, told);
  }
}
