// `weft pilot …`: nodes that a batch system such as Slurm hosts for a time.

import { readFileSync } from 'node:fs';
import { headNow } from '../../../kernel/api/head-time.ts';
import { forEach } from '../../../kernel/cli/jobs/each.ts';
import { defineListing, type ListingOptions } from '../../../kernel/cli/output/listing.ts';
import { defineVerb, type VerbGroup } from '../../../kernel/cli/verb.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { type PilotRow, pilotColumns, rowsOf } from './columns.ts';
import { defineRange, type RangeOptions, readRange } from './range.ts';
import { start } from './start.ts';

/** `weft pilot list`: all pilots, by their fleets. */
const list = defineVerb<ListingOptions>({
  define: (command) => void defineListing(command),
  async run({ context, options }) {
    const { fleets } = await (await context.api()).call('listFleets');
    const name = ({ fleet, pilot }: PilotRow) => pilot?.node ?? fleet.name;
    const rows = rowsOf(fleets);
    const columns = pilotColumns(headNow());
    await context.list({ rows, columns, name, empty: 'No pilots.' }, options.output);
    return 0;
  },
});

/** `weft pilot logs`: the file that a pilot writes in the folder of its fleet. */
const logs = defineVerb({
  define: (command) => void command.argument('<pilot>', 'name of a pilot, which is its node'),
  async run({ context, args: [name = ''] }) {
    const { fleets } = await (await context.api()).call('listFleets');
    const found = fleets.flatMap(({ pilots }) => pilots).find(({ node }) => node === name);
    if (found === undefined) {
      const hint = 'What ended left its log in the folder of its fleet, as weft-PILOT.log.';
      throw usage(`there is no pilot ${name}; \`weft pilot list\` shows them`, hint);
    }
    context.out(read(found.log));
    return 0;
  },
});

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'it is not on this machine, or not written yet' : code;
    throw usage(`the log cannot be read: ${file}: ${why}`);
  }
}

/** `weft pilot scale`: other bounds; without any, a fleet that is paused tries again. */
const scale = defineVerb<RangeOptions>({
  define(command) {
    command.argument('<fleet>', 'name of a fleet');
    defineRange(command);
  },
  async run({ context, args: [fleet = ''], options }) {
    const api = await context.api();
    const body = readRange(options);
    const { count } = await api.call('scaleFleet', { params: { fleet }, body });
    context.print(count === 0 ? `Fleet ${fleet} is so already.` : `Fleet ${fleet} is changed.`);
    return 0;
  },
});

/** `weft pilot stop`: fleets end with all their pilots. */
const stop = defineVerb({
  define: (command) => void command.argument('<fleet...>', 'names of fleets'),
  run: ({ context, args }) =>
    forEach(context, args, async (fleet) => {
      await (await context.api()).call('stopFleet', { params: { fleet } });
      context.print(`Fleet ${fleet} is stopped; its pilots end.`);
    }),
});

export const verb: VerbGroup = {
  verbs: {
    start: { summary: 'start pilots at Slurm or Grid Engine', verb: start },
    list: { summary: 'list fleets and their pilots', verb: list },
    scale: { summary: 'change how many pilots a fleet may have', verb: scale },
    stop: { summary: 'end all pilots of fleets', verb: stop },
    logs: { summary: 'show the log of a pilot', verb: logs },
  },
};
