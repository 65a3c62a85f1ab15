// Reads the parts of weft.yaml whose entries have names of the site's own: partitions, qualities of
// service, shares. As strict as the rest of the file.

import { isMap, isScalar, type Node, type YAMLMap } from 'yaml';
import { didYouMean } from '../base/nearest-word.ts';
import type { Key } from './key.ts';
import { isNothing, startOf, textOf } from './nodes.ts';
import type { Fields, Table } from './table.ts';
import { parseValue, type Value } from './value.ts';

/** One value that was written, for `config show`: the key has its whole name. */
export interface TableSetting {
  readonly key: Key;
  readonly value: Value;
  readonly offset: number;
}

/** Names stand in command lines, tables and messages. */
const NAME = /^[A-Za-z][A-Za-z0-9._-]{0,62}$/;

export class TableReader {
  readonly tables = new Map<string, Map<string, Fields>>();
  readonly settings: TableSetting[] = [];
  readonly #problem: (offset: number, what: string) => void;
  readonly #offsets = new Map<string, number>();

  constructor(problem: (offset: number, what: string) => void) {
    this.#problem = problem;
  }

  /** Reads all entries of a table. */
  read(table: Table, map: YAMLMap<unknown, unknown>): void {
    const entries = this.tables.get(table.section) ?? new Map<string, Fields>();
    this.tables.set(table.section, entries);
    for (const { key, value } of map.items) {
      const node = key as Node;
      const name = isScalar(key) ? String(key.value) : '';
      const full = `${table.section}.${name}`;
      if (!NAME.test(name)) {
        const form = 'a letter, then letters, digits and . _ -, 63 at most';
        this.#problem(
          startOf(node, node),
          `'${name}' is not a name for ${table.entry}; use ${form}`,
        );
        continue;
      }
      this.#offsets.set(full, startOf(node, node));
      entries.set(name, this.#entry(table, { full, node, value: value as Node | null }));
    }
  }

  /** What is wrong between entries, once all are read. */
  finish(tables: readonly Table[]): void {
    for (const { section, check } of tables) {
      for (const { name, what } of check?.(this.tables.get(section) ?? new Map()) ?? []) {
        const full = `${section}.${name}`;
        this.#problem(this.#offsets.get(full) ?? 0, `${full}: ${what}`);
      }
    }
  }

  #entry({ fields, entry }: Table, { full, node, value }: KeyNode): Fields {
    const found = new Map<string, Value>();
    const [only] = fields;
    if (only?.name === '') {
      this.#field(only, { full, node, value }, found);
    } else if (isMap(value)) {
      this.#map(fields, { full, map: value, prefix: '' }, found);
    } else if (!isNothing(value)) {
      this.#problem(startOf(value, node), `${full}: expected the settings of ${entry}`);
    }
    return found;
  }

  #map(fields: readonly Key[], place: MapPlace, found: Map<string, Value>): void {
    const { full, map, prefix } = place;
    for (const { key, value } of map.items) {
      const node = key as Node;
      const word = `${prefix}${isScalar(key) ? String(key.value) : ''}`;
      const field = fields.find(({ name }) => name === word);
      const isGroup = fields.some(({ name }) => name.startsWith(`${word}.`));
      if (field !== undefined) {
        this.#field(field, { full: `${full}.${word}`, node, value: value as Node | null }, found);
      } else if (isGroup && isMap(value)) {
        this.#map(fields, { full, map: value, prefix: `${word}.` }, found);
      } else if (!isGroup) {
        const names = fields.map(({ name }) => name);
        const what = `${full}: unknown key '${word}'.${didYouMean(word, names)}`;
        this.#problem(startOf(node, node), what);
      } else if (!isNothing(value)) {
        this.#problem(
          startOf(value, node),
          `${full}.${word}: expected a mapping of keys to values`,
        );
      }
    }
  }

  #field(field: Key, { full, node, value }: KeyNode, found: Map<string, Value>): void {
    const offset = startOf(value, node);
    const text = textOf(value, field);
    if (text === null) {
      this.#problem(offset, `${full}: expected ${EXPECTED[field.type] ?? `one ${field.type}`}`);
      return;
    }
    const parsed = parseValue(field, text);
    if (!parsed.ok) {
      this.#problem(offset, `${full}: ${parsed.error}`);
      return;
    }
    if (found.has(field.name)) this.#problem(offset, `${full} is set twice`);
    found.set(field.name, parsed.value);
    this.settings.push({ key: { ...field, name: full }, value: parsed.value, offset });
  }
}

interface KeyNode {
  readonly full: string;
  readonly node: Node;
  readonly value: Node | null;
}

interface MapPlace {
  readonly full: string;
  readonly map: YAMLMap<unknown, unknown>;
  readonly prefix: string;
}

const EXPECTED: Partial<Record<Key['type'], string>> = {
  texts: 'a list of texts',
  nodes: 'a list of nodes',
  labels: 'labels or an expression over them',
};
