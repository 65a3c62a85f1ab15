// Where the cursor stands: at an option, at the value of one, at an operand or at a command.

import type { Argument, Command, Option } from 'commander';

export type CursorPlace =
  | { readonly kind: 'nowhere' }
  | { readonly kind: 'command' }
  | { readonly kind: 'option' }
  /** `before`: what stands in the same word before the value, `--output=`. */
  | { readonly kind: 'value'; readonly option: Option; readonly before: string }
  | { readonly kind: 'operand'; readonly argument: Argument };

export interface Found {
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
export function findPlace(program: Command, words: readonly string[]): Found {
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
