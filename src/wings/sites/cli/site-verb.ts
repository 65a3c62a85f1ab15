// `weft site …`: other clusters behind gateways, as they were heard last.

import { Option } from 'commander';
import { plural } from '../../../kernel/base/plural.ts';
import { defineListing, type ListingOptions } from '../../../kernel/cli/output/listing.ts';
import { formatOne } from '../../../kernel/cli/output/one.ts';
import { read } from '../../../kernel/cli/submit/read.ts';
import { defineVerb, type Verb, type VerbGroup } from '../../../kernel/cli/verb.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { parseNodeName } from '../../../kernel/model/ids.ts';
import type { SiteTried } from '../../../kernel/model/site.ts';
import { parseText } from '../../../kernel/model/submission-values.ts';
import type { SiteSummary } from '../api/sites.ts';
import { type SiteOptions, siteOptions } from '../config/site-options.ts';
import { siteColumns, siteLines } from './columns.ts';

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

const show = defineVerb<ListingOptions & { raw?: boolean; filtered?: boolean }>({
  define(command) {
    command.argument('<site>', 'name of a site');
    command.option('--raw', 'show the site as it is (the default)');
    command.addOption(
      new Option('--filtered', 'show the site as its filters change it').conflicts('raw'),
    );
    defineListing(command);
  },
  async run({ context, args: [text = ''], options }) {
    const api = await context.api();
    const site = await api.call('getSite', { params: { name: readName(text) } });
    const lines = formatOne(site, options.output, site.name, () =>
      siteLines(site, context.paint, options.filtered === true ? 'filtered' : 'raw'),
    );
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

/** Each operation of a site, tried from here; `directory`: one that its nodes see. */
type TrySite = (site: SiteOptions, directory: string) => Promise<readonly SiteTried[]>;

const test = (trySite: TrySite): Verb =>
  defineVerb({
    define: () => undefined,
    async run({ context }) {
      const { site } = siteOptions(await context.config());
      if (site === undefined) {
        const hint = 'Run it where the gateway is to run, with its --dir.';
        throw usage('no site is configured (site.system)', hint);
      }
      const tried = await trySite(site, context.directory);
      for (const { what, works, words } of tried) {
        context.print(`${works ? 'works' : 'FAILS'}  ${what}: ${words}`);
      }
      return tried.every(({ works }) => works) ? 0 : 1;
    },
  });

/** `trySite`: what this program tries a site with. */
export const verbOf = (trySite: TrySite): VerbGroup => ({
  verbs: {
    list: { summary: 'list sites', verb: list },
    show: { summary: 'show one site with its nodes, queues and jobs', verb: show },
    test: { summary: 'try what a gateway asks of its site, on its machine', verb: test(trySite) },
    pause: { summary: 'start nothing more at a site', verb: pause },
    resume: { summary: 'end the pause of a site', verb: resume },
  },
});

function readName(text: string): string {
  const name = parseNodeName(text);
  if (!name.ok) throw usage(name.error);
  return name.value;
}
