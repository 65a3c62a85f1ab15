// `weft notice …`: an operator's message to all users.

import { headNow } from '../../../kernel/api/head-time.ts';
import { defineListing, type ListingOptions } from '../../../kernel/cli/output/listing.ts';
import { formatOne, titledLines } from '../../../kernel/cli/output/one.ts';
import { formatInstant } from '../../../kernel/cli/output/words.ts';
import { readWindow, WINDOW_FORMS } from '../../../kernel/cli/submit/read.ts';
import { defineVerb, type VerbGroup } from '../../../kernel/cli/verb.ts';
import type { NoticeView } from '../api/notices.ts';

const set = defineVerb<{ within?: string }>({
  define(command) {
    command.argument('<text...>', 'what all users are to read');
    command.option('--within <window>', `show it only in this time:  ${WINDOW_FORMS}`);
  },
  async run({ context, args, options: { within } }) {
    const now = headNow();
    const time = within === undefined ? {} : timeOf(within, now);
    const body = { text: args.join(' '), ...time };
    await (await context.api()).call('setNotice', { body });
    context.print(`Users see the notice ${spanWords({ from: null, until: null, ...time }, now)}.`);
    return 0;
  },
});

/** A window that begins now begins with the command, by whichever clock. */
function timeOf(within: string, now: number): { from?: number; until: number } {
  const { notBefore, until } = readWindow('--within', within, now);
  return notBefore <= now ? { until } : { from: notBefore, until };
}

const show = defineVerb<ListingOptions>({
  define: defineListing,
  async run({ context, options }) {
    const { notice } = await (await context.api()).call('getNotice');
    const name = notice?.text ?? '';
    for (const line of formatOne({ notice }, options.output, name, describe)) context.print(line);
    return 0;
  },
});

const clear = defineVerb({
  define: () => undefined,
  async run({ context }) {
    const { count } = await (await context.api()).call('clearNotice');
    context.print(count === 0 ? 'No notice is set.' : 'The notice is cleared.');
    return 0;
  },
});

export const verb: VerbGroup = {
  verbs: {
    set: { summary: 'set the message that all users see', verb: set },
    show: { summary: 'show the message, with who set it', verb: show },
    clear: { summary: 'take the message away', verb: clear },
  },
};

function describe({ notice }: { readonly notice: NoticeView | null }): string[] {
  if (notice === null) return ['No notice is set.'];
  const now = Date.now();
  return titledLines([
    ['Notice', notice.text],
    ['Set by', `${notice.by}, ${formatInstant(notice.at, now)}`],
    ['Shown', spanWords(notice, now)],
  ]);
}

function spanWords({ from, until }: Pick<NoticeView, 'from' | 'until'>, now: number): string {
  const end = until === null ? 'until it is cleared' : `until ${formatInstant(until, now)}`;
  return from === null ? end : `from ${formatInstant(from, now)} ${end}`;
}
