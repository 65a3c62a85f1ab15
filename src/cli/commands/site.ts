// `weft site …`: other clusters behind gateways, as they were heard last.

import type { SiteSummary } from '../../api/sites.ts';
import { plural } from '../../core/base/plural.ts';
import { usage } from '../../core/model/failure.ts';
import { parseNodeName } from '../../core/model/ids.ts';
import { parseText } from '../../core/model/submission-values.ts';
import { defineListing, type ListingOptions } from '../output/listing.ts';
import { formatOne } from '../output/one.ts';
import { siteColumns, siteLines } from '../sites/columns.ts';
import { read } from '../submit/read.ts';
import { defineVerb, type VerbGroup } from '../verb.ts';

const list = defineVerb<ListingOptions>({
  define: defineListing,
  async run({ context, options }) {
    const api = await context.api();
    const { sites } = await api.call('listSites');
    const name = (site: SiteSummary) => site.name;
    const empty = 'No sites.';
    await context.list({ rows: sites, columns: siteColumns(), name, empty }, options.output);
    return 0;
  },
});

const show = defineVerb<ListingOptions>({
  define(command) {
    command.argument('<site>', 'name of a site');
    defineListing(command);
  },
  async run({ context, args: [text = ''], options }) {
    const api = await context.api();
    const site = await api.call('getSite', { params: { name: readName(text) } });
    const lines = formatOne(site, options.output, site.name, () => siteLines(site, context.paint));
    for (const line of lines) context.print(line);
    return 0;
  },
});

const pause = defineVerb<{ reason?: string }>({
  define(command) {
    command.argument('<site>', 'name of a site');
    command.option('-r, --reason <text>', 'shown to everybody who waits for it', 'maintenance');
  },
  async run({ context, args: [text = ''], options }) {
    const name = readName(text);
    const body = { reason: read('--reason', options.reason ?? 'maintenance', parseText) };
    const api = await context.api();
    const { count } = await api.call('pauseSite', { params: { name }, body });
    const nodes = plural(count, 'node');
    context.print(`Nothing more starts at ${name} (${nodes}); what runs there goes on.`);
    return 0;
  },
});

const resume = defineVerb({
  define: (command) => void command.argument('<site>', 'name of a site'),
  async run({ context, args: [text = ''] }) {
    const name = readName(text);
    const api = await context.api();
    const { count } = await api.call('resumeSite', { params: { name } });
    context.print(`${plural(count, 'node')} of ${name} get work again.`);
    return 0;
  },
});

export const verb: VerbGroup = {
  verbs: {
    list: { summary: 'list sites', verb: list },
    show: { summary: 'show one site with its nodes, queues and jobs', verb: show },
    pause: { summary: 'start nothing more at a site', verb: pause },
    resume: { summary: 'end the pause of a site', verb: resume },
  },
};

function readName(text: string): string {
  const name = parseNodeName(text);
  if (!name.ok) throw usage(name.error);
  return name.value;
}
