// The order of lines that `squeue --sort` asks for: letters of its columns; `-` turns one around.

import { headNow } from '../../../kernel/api/head-time.ts';
import { err, ok, type Result } from '../../../kernel/base/result.ts';
import { heldBy } from './held.ts';
import { endOf, priorityOf } from './job-rows.ts';
import { LETTERS, needsPage, type QueueRow } from './queue-fields.ts';

export type Order = (a: QueueRow, b: QueueRow) => number;

/** States in the order of Slurm's numbers; what comes up or goes down counts as running. */
const STATES = ['PD', 'R', 'S', 'CD', 'CA', 'F', 'TO', 'NF', 'PR', 'BF', 'DL', 'OOM'];

const used = ({ startedAt, endedAt }: QueueRow): number =>
  startedAt === null ? 0 : (endedAt ?? headNow()) - startedAt;
const limit = ({ job: { walltimeMs } }: QueueRow): number => walltimeMs ?? Number.MAX_SAFE_INTEGER;

const NUMBERS: Readonly<Record<string, (row: QueueRow) => number>> = {
  A: ({ job }) => job.id,
  C: (row) => heldBy(row).cpuCount,
  D: ({ job }) => job.request.nodeCount,
  F: ({ job }) => job.id,
  K: ({ index }) => index ?? Number.MAX_SAFE_INTEGER,
  L: (row) => limit(row) - used(row),
  M: used,
  Q: ({ job }) => priorityOf(job),
  S: ({ startedAt }) => startedAt ?? 0,
  V: ({ job }) => job.submittedAt,
  c: ({ job }) => job.request.perNode.cpuCount,
  e: (row) => endOf(row) ?? 0,
  i: ({ job }) => job.id,
  l: limit,
  m: ({ job }) => job.request.perNode.memoryBytes,
  p: ({ job }) => priorityOf(job),
};

function stateNumber({ state }: QueueRow): number {
  const at = STATES.indexOf(state.short);
  return at === -1 ? STATES.indexOf('R') : at;
}

/** Lines that are equal so far stay as they are: the oldest first. */
export function orderOf(text: string): Result<Order, string> {
  const orders: Order[] = [];
  for (const [said, sign, letter = ''] of text.matchAll(/([+-]?)([^,+-])|[^,]/g)) {
    const column = Object.hasOwn(LETTERS, letter) ? LETTERS[letter] : undefined;
    if (column === undefined || needsPage([column]))
      return err(`Invalid sort specification: ${said}`);
    const order = orderBy(letter, column.value);
    orders.push(sign === '-' ? (a, b) => order(b, a) : order);
  }
  return ok((a, b) => {
    for (const order of orders) {
      const found = order(a, b);
      if (found !== 0) return found;
    }
    return 0;
  });
}

function orderBy(letter: string, value: (row: QueueRow) => string): Order {
  const number = /^[tT]$/.test(letter) ? stateNumber : NUMBERS[letter];
  if (number !== undefined) return (a, b) => number(a) - number(b);
  return (a, b) => (value(a) < value(b) ? -1 : Number(value(a) > value(b)));
}
