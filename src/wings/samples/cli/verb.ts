// `weft efficiency`: who asks for what, and uses how much of it.

import { instantBefore } from '../../../kernel/cli/jobs/instant-before.ts';
import { defineListing, type ListingOptions } from '../../../kernel/cli/output/listing.ts';
import type { Column } from '../../../kernel/cli/output/table.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import type { OwnerUseView } from '../api/samples.ts';
import { LOOK_MS } from '../model/look.ts';

interface Options extends ListingOptions {
  readonly since?: string;
}

const EMPTY = 'No node has looked at a task since then.';
const HOUR_MS = 3_600_000;
const GIB = 2 ** 30;

export const verb = defineVerb<Options>({
  define(command) {
    command.option('--since <time>', 'ran since: 12h (ago), 18:30, 2026-01-31', '7d');
    defineListing(command);
  },
  async run({ context, options }) {
    const since = instantBefore('--since', options.since ?? '7d') ?? 0;
    const { owners } = await (await context.api()).call('usedByOwners', { query: { since } });
    const name = ({ owner }: OwnerUseView) => owner;
    await context.list({ rows: owners, columns: COLUMNS, name, empty: EMPTY }, options.output);
    return 0;
  },
});

const COLUMNS: readonly Column<OwnerUseView>[] = [
  { title: 'USER', least: 8, value: ({ owner }) => owner },
  { title: 'STARTS', value: ({ tasks }) => String(tasks), align: 'right' },
  hours('CPU HOURS', ({ cpuMilliAsked }) => cpuMilliAsked / 1000),
  share('CPUS USED', (row) => [row.cpuMilliUsed, row.cpuMilliAsked]),
  hours('GIB HOURS', ({ memoryBytesAsked }) => memoryBytesAsked / GIB),
  share('MEMORY USED', (row) => [row.memoryBytesUsed, row.memoryBytesAsked]),
  hours('GPU HOURS', ({ gpuMilliAsked }) => gpuMilliAsked / 1000),
  share('GPUS USED', (row) => [row.gpuMilliUsed, row.gpuMilliAsked]),
];

/** Each look stands for the time since the one before. */
function hours(title: string, of: (row: OwnerUseView) => number): Column<OwnerUseView> {
  const amount = (row: OwnerUseView): number => (of(row) * LOOK_MS) / HOUR_MS;
  const value = (row: OwnerUseView): string => String(Number(amount(row).toPrecision(3)));
  return { title, value, raw: amount, align: 'right' };
}

function share(
  title: string,
  of: (row: OwnerUseView) => readonly [used: number, asked: number],
): Column<OwnerUseView> {
  const part = (row: OwnerUseView): number | null => {
    const [used, asked] = of(row);
    return asked === 0 ? null : used / asked;
  };
  const value = (row: OwnerUseView): string => {
    const share = part(row);
    return share === null ? '-' : `${Math.round(share * 100)}%`;
  };
  return { title, value, raw: part, align: 'right' };
}
