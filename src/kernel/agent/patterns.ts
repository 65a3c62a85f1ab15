// File patterns of a job: `%j` and friends, filled in per process.

import type { LaunchOrder } from '../model/orders.ts';

/**
 * %j job, %a index in its array, %t task, %e epoch, %n node rank, %p process rank on the node,
 * %N node name, %x job name, %u user, %% a per cent sign. A value never brings a '/' in, so that a
 * name cannot point anywhere else; an unknown field stays as it is.
 */
export function formatPattern(pattern: string, order: LaunchOrder, rank: number): string {
  return pattern.replace(/%(\d{0,2})(.)/g, (whole, width: string, field: string) => {
    const value = fieldValue(field, order, rank);
    if (value === null) return whole;
    const isNumber = /^\d+$/.test(value) && NUMBERS.includes(field);
    return isNumber ? value.padStart(Number(width), '0') : value.replaceAll('/', '_');
  });
}

/** Fields of which `%4a` has four digits at least. */
const NUMBERS = 'jaenp';

function fieldValue(field: string, order: LaunchOrder, rank: number): string | null {
  switch (field) {
    case 'j':
      return `${order.place.jobId}`;
    case 'a':
      return `${order.place.index ?? 0}`;
    case 't':
      return order.epochId.slice(0, order.epochId.indexOf('#'));
    case 'e':
      return `${order.epoch}`;
    case 'n':
      return `${order.nodeRank}`;
    case 'p':
      return `${rank}`;
    case 'N':
      return order.share.node;
    case 'x':
      return order.jobName;
    case 'u':
      return order.account.user;
    case '%':
      return '%';
    default:
      return null;
  }
}
