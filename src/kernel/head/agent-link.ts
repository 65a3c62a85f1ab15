// One agent's connection as the head sees it, and what is said over it.

import { formatRefusal, kindOf, type Refusal } from '../model/errors.ts';
import type { NodeName } from '../model/ids.ts';
import type { Stamp } from '../model/life.ts';
import type { Order } from '../model/orders.ts';
import type { Presence } from '../model/presence.ts';
import type { Session } from '../ports/net.ts';
import { encode, encodeOrders } from '../wire/codec.ts';
import type { HeadToAgent, Heartbeat, NodeLoad } from '../wire/messages.ts';
import { OrderWriter, type SentOrder } from '../wire/orders.ts';

/** Bytes of one message of orders: small enough that heartbeats get through in between. */
const ORDERS_BYTES_MAX = 4 * 1_048_576;

/** `greeted`: its hello is not durable yet. A hello opens one session, however often sent (S7). */
type LinkStage =
  | { readonly kind: 'new' | 'greeted' | 'closed' }
  | {
      readonly kind: 'welcomed';
      /** The controller's number for this connection. */
      readonly session: number;
      /** The last report handled. */
      reports: number;
    };

export interface Link {
  readonly session: Session;
  readonly node: NodeName;
  stage: LinkStage;
  load: NodeLoad | null;
  /** Users of the node's machine, as its agent reported them; null before the first report. */
  presence: readonly Presence[] | null;
  /** When the last heartbeat was sent whose answer may wait, and does; null: all are answered. */
  unanswered: number | null;
  /** How far the head has come, as this node was told last. */
  stamp: Stamp | null;
  orders: OrderWriter;
  /** Whether its processes can be sent standard input. */
  isFed: boolean;
  /** Whether its agent takes messages of wings. */
  hasWings: boolean;
  readonly offset: ClockOffset;
}

/** `session.peer` is the node's name, as its secret proved it. */
export function linkOf(session: Session): Link {
  return {
    session,
    node: session.peer as NodeName,
    stage: { kind: 'new' },
    load: null,
    presence: null,
    unanswered: null,
    stamp: null,
    orders: new OrderWriter({ sharesScripts: false }),
    isFed: false,
    hasWings: false,
    offset: new ClockOffset(),
  };
}

/** The controller's number for this connection; null: it has none yet, or is closed. */
export function sessionOf({ stage }: Link): number | null {
  return stage.kind === 'welcomed' ? stage.session : null;
}

export function tell(link: Link, message: HeadToAgent): void {
  if ('stamp' in message && message.stamp !== undefined) link.stamp = message.stamp;
  link.session.send(encode(message));
}

/**
 * Says that the node was heard. An answer that may wait does, for the next heartbeat or for orders,
 * unless it would bring the news that there are records.
 */
export function answer(link: Link, { sentAt, mayWait }: Heartbeat, stamp: Stamp | null): void {
  link.unanswered = sentAt;
  const isNews = stamp !== null && stamp !== link.stamp;
  if (mayWait !== true || isNews) tellHeard(link, stamp);
}

/** The answer that is due; nothing where none is. */
function tellHeard(link: Link, stamp: Stamp | null): void {
  const { unanswered: sentAt } = link;
  if (sentAt === null) return;
  link.unanswered = null;
  tell(link, { kind: 'heartbeat_ack', sentAt, ...(stamp === null ? {} : { stamp }) });
}

/** In as many messages as their size demands: a node refuses one beyond MESSAGE_BYTES_MAX. */
export function tellOrders(link: Link, orders: readonly Order[], stamp: Stamp | null): void {
  // First: a lease that is shorter than answers wait must not be over before its epoch starts.
  tellHeard(link, stamp);
  const { session, orders: writer } = link;
  link.stamp = stamp ?? link.stamp;
  sendOrders(
    session,
    orders.map((order) => writer.write(order)),
    stamp,
  );
}

function sendOrders(session: Session, orders: readonly SentOrder[], stamp: Stamp | null): void {
  const bytes = encodeOrders(orders, stamp);
  if (bytes.length <= ORDERS_BYTES_MAX || orders.length === 1) {
    session.send(bytes);
    return;
  }
  const half = Math.ceil(orders.length / 2);
  sendOrders(session, orders.slice(0, half), stamp);
  sendOrders(session, orders.slice(half), stamp);
}

export function refuseLink(link: Link, refusal: Refusal): void {
  const { code, details } = refusal;
  tell(link, { kind: 'refused', code, message: formatRefusal(refusal), details });
  link.session.close(`refused: ${kindOf(code)}`);
}

// How far a node's wall clock is from the head's. Only people are told: nothing is decided by it.

/** Heartbeats looked at; a clock that was set shows after as many. */
const SAMPLES_MAX = 8;

/**
 * A heartbeat that took long makes the node's clock look slow, never fast: the largest of the last
 * differences is the nearest to the truth.
 */
class ClockOffset {
  readonly #samples: number[] = [];

  /** Ms that the node is ahead; null before the first heartbeat that says. */
  get ms(): number | null {
    return this.#samples.length === 0 ? null : Math.max(...this.#samples);
  }

  add(theirs: number, ours: number): void {
    this.#samples.push(theirs - ours);
    if (this.#samples.length > SAMPLES_MAX) this.#samples.shift();
  }
}
