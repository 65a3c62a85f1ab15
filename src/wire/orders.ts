// Orders of one message, with what they share said once: the tasks of an array differ in little but
// their number, and their environment alone is most of the bytes.

import { err, ok, type Result } from '../core/base/result.ts';
import { isSame } from '../core/base/same.ts';
import type { LaunchOrder, Order } from '../core/model/orders.ts';

/** What it leaves out is as in the launch order before it in the same message. */
type ShortLaunch = Partial<LaunchOrder> & {
  readonly kind: 'launch';
  readonly likeBefore: true;
};

export type SentOrder = Order | ShortLaunch;

export function shortenOrders(orders: readonly Order[]): SentOrder[] {
  let before: LaunchOrder | null = null;
  return orders.map((order) => {
    if (order.kind !== 'launch') return order;
    const sent = before === null ? order : shorten(order, before);
    before = order;
    return sent;
  });
}

/** The orders as they were; what is shared is one object in all of them. */
export function restoreOrders(sent: readonly SentOrder[]): Result<Order[], string> {
  const orders: Order[] = [];
  let before: LaunchOrder | null = null;
  for (const one of sent) {
    let order: Order;
    if (!isShort(one)) order = one;
    else if (before === null) return err('the first order is like none before it');
    else order = restore(one, before);
    if (order.kind === 'launch') before = order;
    orders.push(order);
  }
  return ok(orders);
}

function isShort(order: SentOrder): order is ShortLaunch {
  return order.kind === 'launch' && 'likeBefore' in order;
}

function shorten(order: LaunchOrder, before: LaunchOrder): ShortLaunch {
  const own: Record<string, unknown> = {};
  for (const name in order) {
    const value = order[name as keyof LaunchOrder];
    if (!isSame(value, before[name as keyof LaunchOrder])) own[name] = value;
  }
  return { kind: 'launch', likeBefore: true, ...own };
}

function restore({ likeBefore: _, ...own }: ShortLaunch, before: LaunchOrder): LaunchOrder {
  return { ...before, ...own };
}
