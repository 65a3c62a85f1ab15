// Reads weft.yaml strictly: every problem at once, each with file:line:column and what was meant.

import { readFileSync } from 'node:fs';
import { isMap, isScalar, type Node, type YAMLMap } from 'yaml';
import { didYouMean } from '../base/nearest-word.ts';
import { err, ok, type Result } from '../base/result.ts';
import { quoteWord } from '../base/shell-word.ts';
import { refuse } from '../model/errors.ts';
import { failure } from '../model/failure.ts';
import { fileProblem } from './file-problem.ts';
import type { Key } from './key.ts';
import { SEED_KEYS } from './keys.ts';
import { isNothing, startOf, textOf } from './nodes.ts';
import { TableReader } from './read-tables.ts';
import type { Schema } from './schema.ts';
import type { Entries, Table } from './table.ts';
import { tablesOf } from './tables.ts';
import { parseSeedValue, parseValue, type Value } from './value.ts';
import { fileFailure, type Problem, YamlText } from './yaml-text.ts';

export interface FileValue {
  readonly value: Value;
  /** `weft.yaml:3`, with the old name when that was written. */
  readonly source: string;
}

/** Values by key name; what is wrong with the file beside them. */
export interface FileReading {
  readonly values: ReadonlyMap<string, FileValue>;
  /** Partitions and the like, by section and name. */
  readonly tables: ReadonlyMap<string, Entries>;
  /** What was written in the tables, each value under its whole name. */
  readonly tableValues: readonly (FileValue & { readonly key: Key })[];
  readonly problems: readonly Problem[];
}

/** What a file says; throws one failure that lists all problems. */
export function readConfigFile(path: string, schema: Schema): FileReading {
  const reading = parseConfig(readText(path), path, schema);
  const { problems } = reading;
  if (problems.length === 0) return reading;
  const hint = `docs/config.md lists all keys; \`weft config check ${quoteWord(path)}\` looks again.`;
  throw fileFailure('config.invalid', problems, hint);
}

/** Reads the text of a file; `path` is for messages only. */
export function parseConfig(text: string, path: string, schema: Schema): FileReading {
  const yaml = new YamlText(text, path);
  const reader = new Reader(path, yaml, namesOf(schema));
  reader.problems.push(...yaml.syntaxProblems().map(({ where, what }) => ({ where, what })));
  const root: unknown = yaml.document.contents;
  if (isMap(root)) reader.readMap(root, '');
  else if (root !== null) reader.problem(0, 'the file is not a mapping of keys to values');
  reader.finish();
  return reader;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const what = `cannot be read: ${fileProblem(cause)}`;
    throw failure(refuse('config.invalid', { where: path, what }));
  }
}

/** What may stand in a file. */
interface Names {
  readonly keys: ReadonlyMap<string, Key>;
  readonly tables: readonly Table[];
  /** What has keys below it: `node`, `node.yield`. */
  readonly sections: ReadonlySet<string>;
}

function namesOf({ keys, tables: more }: Schema): Names {
  const tables = tablesOf(more);
  return {
    keys: new Map(keys.map((key) => [key.name, key])),
    tables,
    sections: new Set([
      ...keys.flatMap(({ name }) => sectionsOf(name)),
      ...tables.map(({ section }) => section.split('.')[0] ?? ''),
    ]),
  };
}

function sectionsOf(name: string): string[] {
  const words = name.split('.').slice(0, -1);
  return words.map((_, index) => words.slice(0, index + 1).join('.'));
}

class Reader implements FileReading {
  readonly values = new Map<string, FileValue>();
  readonly problems: Problem[] = [];
  readonly #path: string;
  readonly #yaml: YamlText;
  readonly #names: Names;
  readonly #tables = new TableReader((offset, what) => this.problem(offset, what));

  constructor(path: string, yaml: YamlText, names: Names) {
    this.#path = path;
    this.#yaml = yaml;
    this.#names = names;
  }

  problem(offset: number, what: string): void {
    this.problems.push(this.#yaml.problem(offset, what));
  }

  get tables(): ReadonlyMap<string, Entries> {
    return this.#tables.tables;
  }

  get tableValues(): FileReading['tableValues'] {
    return this.#tables.settings.map(({ key, value, offset }) => {
      return { key, value, source: `${this.#path}:${this.#yaml.lineOf(offset)}` };
    });
  }

  /** What can be judged only when all is read. */
  finish(): void {
    this.#tables.finish(this.#names.tables);
  }

  readMap(map: YAMLMap<unknown, unknown>, section: string): void {
    const { tables, sections } = this.#names;
    for (const { key, value } of map.items) {
      const node = key as Node;
      const word = isScalar(key) ? String(key.value) : '';
      const name = section === '' ? word : `${section}.${word}`;
      const table = tables.find((one) => one.section === name);
      if (table !== undefined && isMap(value)) this.#tables.read(table, value);
      else if (isMap(value) && sections.has(name)) this.readMap(value, name);
      else if (table === undefined && !sections.has(name))
        this.#readEntry({ name, node, value: value as Node | null });
      // A section whose keys are all comments is an empty one.
      else if (!isNothing(value)) this.problem(startOf(value, node), `${name}: ${OF_KEYS}`);
    }
  }

  #readEntry(entry: KeyEntry): void {
    const read = readEntry(entry, this.#names);
    if (!read.ok) {
      this.problem(read.error.offset, read.error.what);
      return;
    }
    const { key, value, old } = read.value;
    const offset = startOf(entry.node, entry.node);
    const line = this.#yaml.lineOf(offset);
    const source = `${this.#path}:${line}${old ? ` (${entry.name})` : ''}`;
    if (this.values.has(key.name)) this.problem(offset, `${key.name} is set twice`);
    else this.values.set(key.name, { value, source });
  }
}

interface KeyEntry {
  readonly name: string;
  readonly node: Node;
  readonly value: Node | null;
}

interface ReadEntry {
  readonly key: Key;
  readonly value: Value;
  /** Written under its old name. */
  readonly old: boolean;
}

const OF_KEYS = 'expected a mapping of keys to values';

function readEntry(
  { name, node, value }: KeyEntry,
  names: Names,
): Result<ReadEntry, { offset: number; what: string }> {
  const seedKey = SEED_KEYS[name];
  const key = names.keys.get(seedKey?.key ?? name);
  if (key === undefined) return err({ offset: startOf(node, node), what: unknownKey(name, names) });
  const text = textOf(value, key);
  const offset = startOf(value, node);
  if (text === null) return err({ offset, what: `${name}: ${expected(key)}` });
  const parsed = seedKey ? parseSeedValue(key, seedKey, text) : parseValue(key, text);
  if (!parsed.ok) return err({ offset, what: `${name}: ${parsed.error}` });
  return ok({ key, value: parsed.value, old: seedKey !== undefined });
}

function expected(key: Key): string {
  return key.type === 'texts' ? 'expected a list of texts' : `expected one ${key.type}`;
}

function unknownKey(name: string, { keys, sections }: Names): string {
  const names = [...keys.keys(), ...Object.keys(SEED_KEYS), ...sections];
  return `unknown key '${name}'.${didYouMean(name, names)}`;
}
