// Labels of nodes, and expressions over them: `gpu`, `gpu & !old`, `(gpu | big) & rack=7`.

import { err, ok, type Result } from '../base/result.ts';
import { NO_ROOT_LABEL, OF_SOME_LABEL, ROOT_LABEL, userOfLabel } from './accounts.ts';

/** A label, or an expression, as nodes are chosen by. */
export type LabelTest = (labels: ReadonlySet<string>) => boolean;

/** What is wrong with an expression, and where: columns count from 1. */
export interface LabelProblem {
  readonly column: number;
  readonly what: string;
}

const TOKEN = /\s*(?:([A-Za-z0-9][A-Za-z0-9._=/-]*)|([&|!()]))/y;

/** Expressions in use: few, and asked for at every node class of every cycle. */
const TESTS_MAX = 1000;
const tests = new Map<string, LabelTest>();

/** Before the path in the label of a shared directory. */
export const SHARED_PREFIX = 'shared=';

/**
 * Whether these labels meet a label or expression. One that cannot be read is met by none; who
 * shares a directory shares all that is in it.
 */
export function meetsLabel(labels: ReadonlySet<string>, text: string): boolean {
  if (labels.has(text)) return true;
  if (text === ROOT_LABEL) return !labels.has(NO_ROOT_LABEL);
  if (userOfLabel(text) !== null) return !labels.has(OF_SOME_LABEL);
  if (text.startsWith(SHARED_PREFIX)) return sharesAbove(labels, text.slice(SHARED_PREFIX.length));
  return isExpression(text) && testOf(text)(labels);
}

/** More than the name of one label. A shared directory's path may have any sign in it. */
export function isExpression(text: string): boolean {
  return !text.startsWith(SHARED_PREFIX) && /[&|!()]/.test(text);
}

function sharesAbove(labels: ReadonlySet<string>, path: string): boolean {
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
    const above = `${SHARED_PREFIX}${path.slice(0, end)}`;
    if (labels.has(above) || labels.has(`${above}/`)) return true;
  }
  return path.startsWith('/') && labels.has(`${SHARED_PREFIX}/`);
}

/** `!` binds before `&`, `&` before `|`, as in C. */
export function parseLabels(text: string): Result<LabelTest, LabelProblem> {
  try {
    return ok(new Reader(text).whole());
  } catch (problem) {
    if (problem instanceof Wrong) return err({ column: problem.column, what: problem.message });
    throw problem;
  }
}

function testOf(text: string): LabelTest {
  let test = tests.get(text);
  if (test === undefined) {
    const parsed = parseLabels(text);
    test = parsed.ok ? parsed.value : () => false;
    if (tests.size >= TESTS_MAX) tests.clear();
    tests.set(text, test);
  }
  return test;
}

/** Thrown inside this file only. */
class Wrong extends Error {
  readonly column: number;
  constructor(column: number, what: string) {
    super(what);
    this.column = column;
  }
}

class Reader {
  readonly #text: string;
  #at = 0;
  #token: string | null = null;
  /** Column of the current token, from 1. */
  #column = 1;

  constructor(text: string) {
    this.#text = text;
    this.#next();
  }

  whole(): LabelTest {
    const test = this.#either();
    if (this.#token !== null) this.#wrong(`expected & or | before '${this.#token}'`);
    return test;
  }

  #either(): LabelTest {
    const parts = [this.#both()];
    while (this.#take('|')) parts.push(this.#both());
    return parts.length === 1 ? (parts[0] as LabelTest) : (has) => parts.some((part) => part(has));
  }

  #both(): LabelTest {
    const parts = [this.#one()];
    while (this.#take('&')) parts.push(this.#one());
    return parts.length === 1 ? (parts[0] as LabelTest) : (has) => parts.every((part) => part(has));
  }

  #one(): LabelTest {
    let negated = false;
    while (this.#take('!')) negated = !negated;
    const test = this.#label();
    return negated ? (has) => !test(has) : test;
  }

  #label(): LabelTest {
    const opened = this.#column;
    if (this.#take('(')) {
      const inner = this.#either();
      if (!this.#take(')')) throw new Wrong(opened, 'this ( is never closed');
      return inner;
    }
    const label = this.#token;
    if (label === null) return this.#wrong('expected a label at the end');
    if (!/^[A-Za-z0-9]/.test(label)) return this.#wrong(`expected a label, not '${label}'`);
    this.#next();
    return (has) => has.has(label);
  }

  #take(sign: string): boolean {
    if (this.#token !== sign) return false;
    this.#next();
    return true;
  }

  #next(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at += 1;
    this.#column = this.#at + 1;
    if (this.#at >= this.#text.length) {
      this.#token = null;
      return;
    }
    TOKEN.lastIndex = this.#at;
    const found = TOKEN.exec(this.#text);
    if (found === null) this.#wrong(`'${this.#text[this.#at]}' stands in no label or expression`);
    this.#token = found[1] ?? (found[2] as string);
    this.#at = TOKEN.lastIndex;
  }

  #wrong(what: string): never {
    throw new Wrong(this.#column, what);
  }
}
