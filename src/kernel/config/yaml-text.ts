// One YAML document with the places in it, and what is wrong there: shared by all files that are
// read strictly.

import { type Document, LineCounter, parseDocument, type YAMLError } from 'yaml';
import { type Code, refuse } from '../model/errors.ts';
import { type Failure, failure } from '../model/failure.ts';

export interface Problem {
  /** `weft.yaml:3:5`. */
  readonly where: string;
  readonly what: string;
}

/** The text of a file as it was parsed; `path` is for messages. */
export class YamlText {
  readonly document: Document.Parsed;
  readonly #path: string;
  readonly #counter = new LineCounter();

  constructor(text: string, path: string) {
    this.#path = path;
    const options = { lineCounter: this.#counter, prettyErrors: false };
    this.document = parseDocument(text, options);
  }

  /** What the parser itself objects to. */
  syntaxProblems(): (Problem & { readonly code: string; readonly offset: number })[] {
    return this.document.errors.map((error) => {
      const [offset] = error.pos;
      return { ...this.problem(offset, yamlProblemOf(error)), code: error.code, offset };
    });
  }

  problem(offset: number, what: string): Problem {
    return { where: this.whereIs(offset), what };
  }

  whereIs(offset: number): string {
    const { line, col } = this.#counter.linePos(offset);
    return `${this.#path}:${line}:${col}`;
  }

  lineOf(offset: number): number {
    return this.#counter.linePos(offset).line;
  }
}

const WORDS: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'a tab indents this line; YAML takes blanks only',
  DUPLICATE_KEY: 'this key is there twice',
  MULTIPLE_DOCS: 'a second document begins here; a file has one',
};

function yamlProblemOf({ code, message }: YAMLError): string {
  const sign = /reserved character (.)/.exec(message)?.[1];
  if (sign !== undefined) return `a value cannot begin with ${sign}; put it in quotes`;
  return WORDS[code] ?? message;
}

/** One failure that lists all problems of a file. */
export function fileFailure(
  code: Extract<Code, 'config.invalid' | 'batch.invalid'>,
  problems: readonly Problem[],
  hint: string,
): Failure {
  const lines = problems.map(({ where, what }) => `${where}: ${what}`);
  const [first = { where: '', what: '' }] = problems;
  const more = lines.length > 1 ? `\n${lines.slice(1).join('\n')}` : '';
  return failure(refuse(code, { where: first.where, what: `${first.what}${more}` }, hint));
}
