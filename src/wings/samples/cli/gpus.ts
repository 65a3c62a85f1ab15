// `weft gpus`: all gpus, how much each works, and who has it or had it then.

import { headNow } from '../../../kernel/api/head-time.ts';
import { instantBefore } from '../../../kernel/cli/jobs/instant-before.ts';
import { defineListing, type ListingOptions } from '../../../kernel/cli/output/listing.ts';
import type { Column } from '../../../kernel/cli/output/table.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { usage } from '../../../kernel/model/failure.ts';
import type { CardUseView } from '../api/samples.ts';
import { heldIn } from '../model/past.ts';

/** Known of now alone. */
type Warmth = 'watts' | 'celsius' | 'slowedBy';

interface Options extends ListingOptions {
  readonly at?: string;
}

interface Row extends Pick<CardUseView, 'label' | 'type' | 'tasks' | 'users' | 'why' | Warmth> {
  readonly node: string;
  readonly busyPercent: number | null;
  /** Null: as it was then is not kept. */
  readonly state: string | null;
}

const UNKNOWN = { watts: null, celsius: null, slowedBy: null };
const EMPTY = 'No node tells of gpus.';

export const verb = defineVerb<Options>({
  define(command) {
    command.option('--at <time>', 'as it was then: 2h (ago), 18:30, 2026-01-31');
    defineListing(command);
  },
  async run({ context, options }) {
    const from = instantBefore('--at', options.at);
    if (from !== undefined && from > headNow()) {
      throw usage(`--at: '${options.at}' is in the future; write 2h (ago), 18:30 or 2026-01-31`);
    }
    const query = from === undefined ? {} : { from };
    const map = await (await context.api()).call('gpuMap', { query });
    const span = from === undefined ? null : { from: map.from, until: map.from + map.stepMs };
    const rows = map.nodes.flatMap(({ name: node, cards }) =>
      cards.map(({ label, type, state, why, tasks, users, past, percents, ...warm }): Row => {
        const holders = span === null ? { tasks, users } : heldIn(past, span);
        const busyPercent = percents.at(span === null ? -1 : 0) ?? null;
        const { watts, celsius, slowedBy = null } = span === null ? warm : UNKNOWN;
        const now = span === null ? { state, why } : { state: null, why: null };
        const known = { watts, celsius, slowedBy, ...now };
        return { node, label, type, busyPercent, ...known, ...holders };
      }),
    );
    const name = ({ node, label }: Row) => `${node}/${label}`;
    await context.list({ rows, columns: COLUMNS, name, empty: EMPTY }, options.output);
    if (span !== null && rows.length > 0 && rows.every(isUnknown)) {
      context.note('nothing is known of that time: no samples of it are kept');
    }
    if (!map.isWhole) context.note('there are more nodes with gpus than an answer has');
    return 0;
  },
});

function isUnknown({ busyPercent, tasks }: Row): boolean {
  return busyPercent === null && tasks.length === 0;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'NODE', least: 8, value: ({ node }) => node },
  { title: 'GPU', value: ({ label }) => label, align: 'right' },
  { title: 'TYPE', value: ({ type }) => type },
  {
    title: 'BUSY',
    value: ({ busyPercent }) => (busyPercent === null ? '-' : `${busyPercent}%`),
    raw: ({ busyPercent }) => busyPercent,
    align: 'right',
  },
  {
    title: 'POWER',
    value: ({ watts }) => (watts === null ? '-' : `${watts}W`),
    raw: ({ watts }) => watts,
    align: 'right',
    wide: true,
  },
  {
    title: 'TEMP',
    value: ({ celsius }) => (celsius === null ? '-' : `${celsius}C`),
    raw: ({ celsius }) => celsius,
    align: 'right',
    wide: true,
  },
  { title: 'SLOWED BY', value: ({ slowedBy }) => slowedBy ?? '-', wide: true },
  { title: 'STATE', value: ({ state }) => state?.replace('_', ' ') ?? '-' },
  { title: 'TASKS', value: ({ tasks }) => tasks.join(', ') || '-' },
  { title: 'USERS', value: ({ users }) => users.join(', ') || '-' },
  { title: 'WHY', value: ({ why }) => why ?? '-' },
];
