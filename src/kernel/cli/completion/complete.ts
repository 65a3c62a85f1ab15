// What may follow the words typed so far. The shells' scripts read it: one word a line, with its
// description behind a tab, and in the last line, behind a colon, what the shell adds by itself.

import type { Argument, Command, Option } from 'commander';
import { type CommonOptions, Context } from '../context.ts';
import type { Offer } from './offer.ts';
import { fetchOffers } from './offers.ts';
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

type CursorPlace =
  | { readonly kind: 'nowhere' }
  | { readonly kind: 'command' }
  | { readonly kind: 'option' }
  /** `before`: what stands in the same word before the value, `--output=`. */
  | { readonly kind: 'value'; readonly option: Option; readonly before: string }
  | { readonly kind: 'operand'; readonly argument: Argument };

interface Found {
  readonly place: CursorPlace;
  /** The innermost command that was typed. */
  readonly command: Command;
  /** Names of the command, without that of the program: `node drain`. */
  readonly path: string;
  /** Operands before the cursor. */
  readonly operands: readonly string[];
  /** Values of options before the cursor, by attribute. */
  readonly values: Readonly<Record<string, string>>;
}

/** After the first of these all words are the program's own. */
const BEGINS_PROGRAM = new Set(['command', 'script', 'shell']);

/** Reads the words before the cursor; the last word is the one that is being typed. */
function findPlace(program: Command, words: readonly string[]): Found {
  const walk = new Walk(program);
  for (const word of words.slice(0, -1)) walk.take(word);
  return walk.at(words.at(-1) ?? '');
}

class Walk {
  readonly #values: Record<string, string> = {};
  readonly #names: string[] = [];
  #operands: string[] = [];
  #command: Command;
  #awaits: Option | null = null;
  #isOver = false;
  #isLost = false;

  constructor(program: Command) {
    this.#command = program;
  }

  take(word: string): void {
    if (this.#awaits !== null) {
      this.#values[this.#awaits.attributeName()] = word;
      this.#awaits = null;
    } else if (!this.#isOver && word === '--') this.#isOver = true;
    else if (!this.#isOver && /^-./.test(word)) this.#takeOption(word);
    else this.#takeOperand(word);
  }

  at(word: string): Found {
    return {
      place: this.#isLost ? { kind: 'nowhere' } : this.#placeOf(word),
      command: this.#command,
      path: this.#names.join(' '),
      operands: this.#operands,
      values: this.#values,
    };
  }

  #placeOf(word: string): CursorPlace {
    if (this.#awaits !== null) return { kind: 'value', option: this.#awaits, before: '' };
    if (!this.#isOver && word.startsWith('-')) return this.#optionPlace(word);
    if (this.#command.commands.length > 0) return { kind: 'command' };
    const taken = this.#command.registeredArguments;
    const argument = taken[Math.min(this.#operands.length, taken.length - 1)];
    const isPast = this.#operands.length >= taken.length && !argument?.variadic;
    return argument === undefined || isPast ? { kind: 'nowhere' } : { kind: 'operand', argument };
  }

  #optionPlace(word: string): CursorPlace {
    const at = word.indexOf('=');
    if (at === -1 || !word.startsWith('--')) return { kind: 'option' };
    const option = this.#optionOf(word.slice(0, at));
    const before = word.slice(0, at + 1);
    return takesValue(option) ? { kind: 'value', option, before } : { kind: 'nowhere' };
  }

  #takeOption(word: string): void {
    const [name = '', ...rest] = word.startsWith('--') ? word.split('=') : [word.slice(0, 2)];
    const option = this.#optionOf(name);
    if (!takesValue(option)) return;
    const isAttached = rest.length > 0 || (!word.startsWith('--') && word.length > 2);
    if (!isAttached) this.#awaits = option;
    else this.#values[option.attributeName()] = word.slice(name.length).replace(/^=/, '');
  }

  #takeOperand(word: string): void {
    if (this.#command.commands.length === 0) {
      const argument = this.#command.registeredArguments[this.#operands.length];
      this.#isOver ||= BEGINS_PROGRAM.has(argument?.name() ?? '');
      this.#operands.push(word);
      return;
    }
    const inner = this.#command.commands.find((command) => command.name() === word);
    if (inner === undefined) this.#isLost = true;
    else {
      this.#command = inner;
      this.#names.push(word);
      this.#operands = [];
    }
  }

  #optionOf(name: string): Option | undefined {
    return this.#command.options.find(({ long, short }) => name === long || name === short);
  }
}

function takesValue(option: Option | undefined): option is Option {
  return option !== undefined && (option.required || option.optional);
}
