// What a set-up has to know: from options, from a file of answers, or from whoever sits there.

import { isUtf8 } from 'node:buffer';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { didYouMean } from '../../../../kernel/base/nearest-word.ts';
import type { Context } from '../../../../kernel/cli/context.ts';
import { fileProblem } from '../../../../kernel/config/file-problem.ts';
import { keyedLines } from '../../../../kernel/connect/client-file.ts';
import { usage } from '../../../../kernel/model/failure.ts';

export interface AskingOptions {
  readonly answers?: string;
  readonly yes?: boolean;
}

/** A handful of short lines. */
const FILE_BYTES_MAX = 65_536;

export function defineAsking(command: Command, keys: readonly string[]): void {
  command.option('-y, --yes', 'ask nothing: what is not given is as usual');
  command.option('--answers <file>', `ask nothing: lines 'KEY: VALUE' with ${keys.join(', ')}`);
}

export class Asking {
  readonly #context: Context;
  readonly #answers: ReadonlyMap<string, string>;
  /** Nobody is to be asked. */
  readonly isQuiet: boolean;

  /** Throws a failure that names the line where the file of answers has something else. */
  constructor(context: Context, { answers, yes }: AskingOptions, keys: readonly string[]) {
    this.#context = context;
    this.#answers = answers === undefined ? new Map() : readAnswers(context, answers, keys);
    this.isQuiet = yes === true || answers !== undefined;
  }

  /** What the option or the file says; undefined: neither does. */
  given(key: string, option: string | undefined): string | undefined {
    return option ?? this.#answers.get(key);
  }

  /** What is usual where nobody can be asked; without that the answer is empty. */
  async ask(question: string, usual: string | null = null): Promise<string> {
    const { ask } = this.#context.terminal;
    if (this.isQuiet || ask === undefined) return usual ?? '';
    const shown = usual === null ? '' : ` [${usual}]`;
    return (await ask(`${question}?${shown} `)).trim() || (usual ?? '');
  }

  /** Shows what would be done; false: whoever sits there does not want it. */
  async agree(steps: readonly { readonly words: string }[]): Promise<boolean> {
    const { terminal } = this.#context;
    for (const { words } of steps) this.#context.print(`- ${words}`);
    if (steps.length === 0) this.#context.print('All is there already:');
    if (steps.length === 0 || this.isQuiet) return true;
    if (terminal.ask === undefined) throw usage('nobody is here to be asked', 'Give --yes.');
    return /^(y(es)?)?$/i.test((await terminal.ask('Do that? [Y/n] ')).trim());
  }
}

function readAnswers(context: Context, name: string, keys: readonly string[]) {
  const file = path.resolve(context.cwd, name);
  const answers = new Map<string, string>();
  for (const { at, key, value, line } of keyedLines(textOf(file))) {
    if (!keys.includes(key)) {
      const meant = key === '' ? '' : didYouMean(key, keys);
      const hint = `Write KEY: VALUE in each line, with ${keys.join(', ')}; a value with blanks stands in quotes.`;
      throw usage(`${file}:${at}: '${line}' is no answer.${meant}`, hint);
    }
    if (answers.has(key)) throw usage(`${file}:${at}: ${key} is there twice`);
    answers.set(key, value);
  }
  return answers;
}

function textOf(file: string): string {
  try {
    if (statSync(file).size > FILE_BYTES_MAX)
      throw usage(`${file} is no file of answers: too large`);
    const bytes = readFileSync(file);
    if (!isUtf8(bytes)) throw usage(`${file} is not UTF-8`, 'Save it in that encoding.');
    return bytes.toString('utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && 'syscall' in error) {
      throw usage(`${file} cannot be read: ${fileProblem(error)}`);
    }
    throw error;
  }
}
