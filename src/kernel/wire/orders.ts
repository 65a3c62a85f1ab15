// Launch orders, with what they share said once a session: the tasks of an array, and jobs from one
// shell, differ in little, and their environment alone is most of the bytes.

import { err, ok, type Result } from '../base/result.ts';
import { isSame } from '../base/same.ts';
import { isWhole } from '../base/whole.ts';
import type { Program } from '../model/job.ts';
import type { LaunchOrder, Order } from '../model/orders.ts';

/** How many orders both sides keep to compare with: one for each of the last environments. */
const SLOTS = 16;

/** Kept in this slot from now on, in place of what was there. */
type KeptLaunch = LaunchOrder & { readonly keep: number };

/** What it leaves out is as in the order kept in that slot. */
type ShortLaunch = Partial<LaunchOrder> & {
  readonly kind: 'launch';
  readonly like: number;
  /** Arguments for the script of that order. */
  readonly args?: readonly string[];
};

export type SentOrder = Order | KeptLaunch | ShortLaunch;

/** The sender's half. Whoever reads gets everything written, in order, or starts anew as well. */
export class OrderWriter {
  readonly #kept = new Map<LaunchOrder['environment'], { slot: number; order: LaunchOrder }>();
  readonly #slots: LaunchOrder['environment'][] = [];
  readonly #sharesScripts: boolean;
  #next = 0;

  /** `sharesScripts`: whoever reads knows `args`; a release before did not. */
  constructor({ sharesScripts }: { readonly sharesScripts: boolean }) {
    this.#sharesScripts = sharesScripts;
  }

  write(order: Order): SentOrder {
    if (order.kind !== 'launch') return order;
    // By identity: equal environments of one user's jobs are one object (`shareSpec`).
    const known = this.#kept.get(order.environment);
    if (known === undefined || lacks(order, known.order)) return this.#keep(order);
    const own = ownOf(order, known.order);
    if (this.#sharesScripts) shareScript(own, order.program, known.order.program);
    return { ...own, kind: 'launch', like: known.slot };
  }

  #keep(order: LaunchOrder): KeptLaunch {
    const slot = this.#next;
    this.#next = (slot + 1) % SLOTS;
    const before = this.#slots[slot];
    if (before !== undefined && this.#kept.get(before)?.slot === slot) this.#kept.delete(before);
    this.#slots[slot] = order.environment;
    this.#kept.set(order.environment, { slot, order });
    return { ...order, keep: slot };
  }
}

/** The receiver's half, of one session. */
export class OrderReader {
  readonly #kept: LaunchOrder[] = [];

  /** The orders as they were; what is shared is one object in all of them. */
  readAll(sent: readonly SentOrder[]): Result<Order[], string> {
    const orders: Order[] = [];
    for (const one of sent) {
      const order = this.read(one);
      if (!order.ok) return order;
      orders.push(order.value);
    }
    return ok(orders);
  }

  read(sent: SentOrder): Result<Order, string> {
    if ('keep' in sent) {
      const { keep, ...order } = sent;
      if (!isWhole(keep, 0, SLOTS - 1)) return err(`an order cannot be kept in slot ${keep}`);
      this.#kept[keep] = order;
      return ok(order);
    }
    if (!('like' in sent)) return ok(sent);
    const { like, args, ...own } = sent;
    const known = this.#kept[like];
    if (known === undefined) return err(`no order is kept in slot ${like}`);
    if (args === undefined) return ok({ ...known, ...own });
    const { program } = known;
    if (program.kind !== 'script') return err(`the order in slot ${like} has no script`);
    return ok({ ...known, ...own, program: { ...program, args } });
  }
}

/** A field that is not there cannot be said to differ. */
function lacks(order: LaunchOrder, kept: LaunchOrder): boolean {
  for (const name in kept) if (!(name in order)) return true;
  return false;
}

type Own = { -readonly [K in keyof ShortLaunch]?: ShortLaunch[K] };

function ownOf(order: LaunchOrder, kept: LaunchOrder): Own {
  const own: Record<string, unknown> = {};
  for (const name in order) {
    const value = order[name as keyof LaunchOrder];
    if (!isSame(value, kept[name as keyof LaunchOrder])) own[name] = value;
  }
  return own;
}

/** Jobs of a batch run one script of some kilobytes, each with arguments of its own. */
function shareScript(own: Own, program: Program, kept: Program): void {
  if (own.program === undefined || program.kind !== 'script' || kept.kind !== 'script') return;
  if (program.text !== kept.text) return;
  delete own.program;
  own.args = program.args;
}
