// The network between the head and one node each: sessions whose messages take time, stall, vanish
// or come twice. Within a session order is kept, as on TCP: after one lost message all are lost.

import type { Session } from '../src/kernel/ports/net.ts';
import type { Streams } from './chance.ts';
import type { Life, Time } from './clock.ts';

export type Direction = 'to_head' | 'to_agent';

/** What happens to messages of one direction while it is cut. */
export type Cut = 'none' | 'stall' | 'vanish';

export interface NetWorld {
  readonly time: Time;
  readonly streams: Streams;
  /** Share of messages that are delivered twice. */
  readonly duplicates: number;
  /** Every delivery, for the trace and the hash. `again`: the second of the same message. */
  readonly onDelivery: (link: Link, delivery: Delivery) => void;
}

export interface Delivery {
  readonly direction: Direction;
  readonly bytes: Uint8Array;
  readonly again: boolean;
  readonly hand: () => void;
}

/** The way between one node and the head. */
export class Link {
  readonly node: string;
  readonly world: NetWorld;
  readonly cuts: Record<Direction, Cut> = { to_head: 'none', to_agent: 'none' };
  delayMs = { min: 0.2, max: 2 };
  readonly #sessions = new Set<SessionPair>();

  constructor(node: string, world: NetWorld) {
    this.node = node;
    this.world = world;
  }

  get isUp(): boolean {
    return this.cuts.to_head === 'none' && this.cuts.to_agent === 'none';
  }

  drawDelay(): number {
    const { min, max } = this.delayMs;
    return min + this.world.streams.of('delay').fraction() * (max - min);
  }

  cut(direction: Direction, how: Cut): void {
    this.cuts[direction] = how;
  }

  heal(): void {
    this.cuts.to_head = 'none';
    this.cuts.to_agent = 'none';
    for (const pair of this.#sessions) pair.resume();
  }

  /** All connections break at once; what is on its way is lost. Each side hears of it. */
  reset(): void {
    for (const pair of [...this.#sessions]) pair.break('connection reset');
  }

  open(agentLife: Life, headLife: Life): SessionPair {
    const pair = new SessionPair(this, agentLife, headLife);
    this.#sessions.add(pair);
    return pair;
  }

  closed(pair: SessionPair): void {
    this.#sessions.delete(pair);
  }

  /** The program on one side is gone: its system closes the connections for it. */
  sideGone(side: 'agent' | 'head', isMachineUp: boolean): void {
    for (const pair of [...this.#sessions]) pair.sideGone(side, isMachineUp);
  }
}

/** Both ends of one connection. */
export class SessionPair {
  readonly link: Link;
  readonly agent: SessionEnd;
  readonly head: SessionEnd;

  constructor(link: Link, agentLife: Life, headLife: Life) {
    this.link = link;
    this.agent = new SessionEnd(this, agentLife, 'to_head', '');
    this.head = new SessionEnd(this, headLife, 'to_agent', link.node);
  }

  other(end: SessionEnd): SessionEnd {
    return end === this.agent ? this.head : this.agent;
  }

  resume(): void {
    this.agent.resume();
    this.head.resume();
  }

  break(why: string): void {
    this.agent.doomed = true;
    this.head.doomed = true;
    const { time } = this.link.world;
    for (const end of [this.agent, this.head]) {
      time.after(this.link.drawDelay(), () => end.closedByPeer(why));
    }
  }

  sideGone(side: 'agent' | 'head', isMachineUp: boolean): void {
    const end = side === 'agent' ? this.agent : this.head;
    end.gone();
    if (isMachineUp) end.sayClosed('peer is gone');
    else end.doomed = true;
  }
}

interface OnItsWay {
  /** Place in the order of sending. */
  readonly number: number;
  readonly bytes: Uint8Array | null;
  readonly why: string;
}

export class SessionEnd implements Session {
  readonly peer: string;
  /** Messages sent from this end on are lost, for good. */
  doomed = false;
  readonly #pair: SessionPair;
  readonly #life: Life;
  readonly #direction: Direction;
  #closed = false;
  #onMessage: (message: Uint8Array) => void = () => undefined;
  #onClose: (why: string) => void = () => undefined;
  #arrivesAt = 0;
  #sent = 0;
  #stalled: OnItsWay[] = [];

  constructor(pair: SessionPair, life: Life, direction: Direction, peer: string) {
    this.#pair = pair;
    this.#life = life;
    this.#direction = direction;
    this.peer = peer;
  }

  send(message: Uint8Array): void {
    if (this.#closed || !this.#life.alive) return;
    this.#put({ number: this.#sent++, bytes: message.slice(), why: '' });
  }

  onMessage(handler: (message: Uint8Array) => void): void {
    this.#onMessage = handler;
  }

  onClose(handler: (why: string) => void): void {
    this.#onClose = handler;
  }

  close(why: string): void {
    if (this.#closed || !this.#life.alive) return;
    this.#closed = true;
    this.sayClosed(why);
    this.#onClose(why);
    this.#settle();
  }

  /** The goodbye goes the way of every message, so it can be lost as well. */
  sayClosed(why: string): void {
    this.#put({ number: this.#sent++, bytes: null, why });
  }

  gone(): void {
    this.#closed = true;
    this.#settle();
  }

  closedByPeer(why: string): void {
    if (this.#closed || !this.#life.alive) return;
    this.#closed = true;
    this.#onClose(why);
    this.#settle();
  }

  resume(): void {
    const stalled = this.#stalled.sort((a, b) => a.number - b.number);
    this.#stalled = [];
    for (const one of stalled) this.#put(one);
  }

  #settle(): void {
    if (this.#closed && this.#pair.other(this).#closed) this.#pair.link.closed(this.#pair);
  }

  #put(one: OnItsWay): void {
    const { link } = this.#pair;
    if (this.doomed || link.cuts[this.#direction] === 'vanish') {
      this.doomed = true;
      return;
    }
    if (link.cuts[this.#direction] === 'stall' || this.#stalled.length > 0) {
      this.#stalled.push(one);
      return;
    }
    const { time } = link.world;
    this.#arrivesAt = Math.max(this.#arrivesAt, time.now + link.drawDelay());
    time.after(this.#arrivesAt - time.now, () => this.#arrive(one));
  }

  #arrive(one: OnItsWay): void {
    const { link } = this.#pair;
    if (this.doomed) return;
    // A cut also catches what is already on its way.
    if (link.cuts[this.#direction] !== 'none') {
      this.#putBack(one);
      return;
    }
    const other = this.#pair.other(this);
    if (one.bytes === null) other.closedByPeer(one.why);
    else other.#take(one.bytes, this.#direction);
  }

  #putBack(one: OnItsWay): void {
    if (this.#pair.link.cuts[this.#direction] === 'vanish') this.doomed = true;
    else this.#stalled.push(one);
  }

  #take(bytes: Uint8Array, direction: Direction): void {
    const { link } = this.#pair;
    const { world } = link;
    const times = world.streams.of('twice').happens(world.duplicates) ? 2 : 1;
    for (let time = 0; time < times; time += 1) {
      if (this.#closed || !this.#life.alive) return;
      const hand = (): void => this.#onMessage(bytes);
      world.onDelivery(link, { direction, bytes, again: time > 0, hand });
    }
  }
}
