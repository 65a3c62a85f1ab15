// What may follow the words typed so far. The shells' scripts read it: one word a line, with its
// description behind a tab, and in the last line, behind a colon, what the shell adds by itself.

import type { Command, Option } from 'commander';
import { type CommonOptions, Context } from '../context.ts';
import type { Offer } from './offer.ts';
import { fetchOffers } from './offers.ts';
import { type Found, findPlace } from './place.ts';
import { type Value, valueOfOperand, valueOfOption } from './values.ts';

/** The last line: names of files are offered, names of folders, or none. */
const ADDS = { files: 0, nothing: 4, folders: 16 } as const;

/** Prints what may follow; the last word is the one that is being typed. */
export async function completeWords(context: Context, words: readonly string[]): Promise<void> {
  const outline = await context.commands('');
  const verb = findPlace(outline, words).path.split(' ')[0] ?? '';
  const found = findPlace(await context.commands(verb), words);
  const typed = words.at(-1) ?? '';
  const asked = asTyped(context, found);
  const { offers, adds } = await answer(asked, found, typed);
  asked.close();
  const taken = new Set(found.operands);
  for (const [word, text] of offers) {
    if (!word.startsWith(typed) || taken.has(word)) continue;
    context.print(`${oneLine(word)}\t${oneLine(text)}`);
  }
  context.print(`:${ADDS[adds]}`);
}

interface Answer {
  readonly offers: readonly Offer[];
  readonly adds: keyof typeof ADDS;
}

const none: Answer = { offers: [], adds: 'nothing' };

async function answer(context: Context, found: Found, typed: string): Promise<Answer> {
  const { place, command, path } = found;
  const { wings } = context;
  switch (place.kind) {
    case 'nowhere':
      return none;
    case 'command':
      return { ...none, offers: command.commands.map((one) => [one.name(), one.summary()]) };
    case 'option':
      return { ...none, offers: command.options.flatMap(optionOffers) };
    case 'value':
      return answerOf(context, valueOfOption(path, place.option, wings), place.before, typed);
    case 'operand':
      return answerOf(context, valueOfOperand({ path, wings }, place.argument, typed), '', typed);
  }
}

async function answerOf(
  context: Context,
  value: Value,
  before: string,
  typed: string,
): Promise<Answer> {
  if (value.kind !== 'words' && value.kind !== 'live') return { ...none, adds: value.kind };
  const offers = value.kind === 'words' ? value.words : await fetchOffers(context, value);
  // Of a list only what follows the last comma is still open.
  const stem = value.isList ? typed.slice(0, typed.lastIndexOf(',') + 1) || before : before;
  const listed = new Set(stem.slice(before.length).split(','));
  const open = offers.filter(([word]) => !listed.has(word));
  return { ...none, offers: open.map(([word, text]) => [stem + word, text]) };
}

function optionOffers(option: Option): Offer[] {
  const names = [option.long, option.short].filter((name) => name !== undefined);
  return option.hidden ? [] : names.map((name) => [name, option.description]);
}

/** The head that the words name: `weft --dir /srv/weft kill …`. */
function asTyped(context: Context, { command, values }: Found): Context {
  const known = new Set(commonNames(command));
  const typed = Object.entries(values).filter(([name]) => known.has(name));
  const options: CommonOptions = { ...context.options, ...Object.fromEntries(typed) };
  return new Context({ ...context, cwd: context.folder, options });
}

function commonNames(command: Command): string[] {
  const common = command.options.filter(({ helpGroupHeading }) => helpGroupHeading === CLUSTER);
  return common.map((option) => option.attributeName());
}

/** The heading of the options that say which cluster. */
const CLUSTER = 'Which cluster:';

/** Names and descriptions are data of others; a line is a line. */
function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ');
}
