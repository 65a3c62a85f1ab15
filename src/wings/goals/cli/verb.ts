// `weft goal …`: what nodes are to be like, how they differ, and their repair.

import path from 'node:path';
import { headNow } from '../../../kernel/api/head-time.ts';
import { plural } from '../../../kernel/base/plural.ts';
import { defineListing, type ListingOptions } from '../../../kernel/cli/output/listing.ts';
import { type Column, printable } from '../../../kernel/cli/output/table.ts';
import { instantColumn } from '../../../kernel/cli/output/times.ts';
import { formatSpan } from '../../../kernel/cli/output/words.ts';
import { defineVerb, type VerbGroup } from '../../../kernel/cli/verb.ts';
import type { GoalStandingView } from '../api/goals.ts';

const check = defineVerb({
  define(command) {
    command.argument('<file>', 'a goal file');
  },
  async run({ context, args: [file = ''] }) {
    // Only here: nobody else pays for reading such files.
    const { readGoalFile } = await import('../config/read-goals.ts');
    const classes = readGoalFile(path.resolve(context.cwd, file));
    const goals = classes.reduce((sum, one) => sum + one.goals.length, 0);
    context.print(
      `${file}: ${plural(classes.length, 'class', 'classes')}, ${plural(goals, 'goal')}.`,
    );
    return 0;
  },
});

const show = defineVerb<ListingOptions>({
  define(command) {
    defineListing(command);
  },
  async run({ context, options }) {
    const { nodes, source } = await (await context.api()).call('getGoals');
    const listing = {
      rows: nodes,
      columns: columnsAt(headNow()),
      name: ({ node }: GoalStandingView) => node,
      empty: 'No node has goals (goals.file).',
    };
    await context.list(listing, options.output);
    if (source === null || options.output !== undefined) return 0;
    const { url, readAt, problem } = source;
    const age = readAt === null ? 'not read yet' : `read ${formatSpan(headNow() - readAt)} ago`;
    const now = problem === null ? '' : `; now: ${problem}`;
    context.print(printable(`Goals of ${url}, ${age}${now}.`));
    return 0;
  },
});

const apply = defineVerb({
  define(command) {
    command.argument('[node...]', 'only these; default: all that have goals');
  },
  async run({ context, args }) {
    const body = { nodes: [...args], repair: true };
    const { count } = await (await context.api()).call('lookAtNodes', { body });
    context.print(`${plural(count, 'node')} looked at now; those that differ are repaired.`);
    return 0;
  },
});

function columnsAt(now: number): Column<GoalStandingView>[] {
  return [
    { title: 'NODE', value: ({ node }) => node },
    { title: 'CLASS', value: (one) => one.class },
    { title: 'STATE', value: goalStateOf },
    instantColumn('LOOKED', ({ lookedAt }) => lookedAt, { now }),
    { title: 'REPAIRS', value: ({ attempts }) => String(attempts), align: 'right' },
    { title: 'DIFFERS', value: differenceWords, least: 16 },
    { title: 'NEXT', value: ({ next }) => next ?? '-', least: 12 },
  ];
}

function goalStateOf({ differences }: GoalStandingView): string {
  if (differences === null) return 'unknown';
  return differences.length === 0 ? 'met' : 'differs';
}

function differenceWords({ differences }: GoalStandingView): string {
  const words = (differences ?? []).map(({ goal, actual, expected }) => {
    return `${goal} is ${actual}, expected ${expected}`;
  });
  return words.length === 0 ? '-' : words.join('; ');
}

export const verb: VerbGroup = {
  verbs: {
    check: { summary: 'look for mistakes in a goal file', verb: check },
    show: { summary: 'show how nodes differ from their goals', verb: show },
    apply: { summary: 'look at nodes now and repair those that differ', verb: apply },
  },
};
