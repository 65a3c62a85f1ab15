// The values of a YAML document, and the way from a place in them back to the text. A number whose
// text says more than its value, as 0.10 or 007, stays text: names and arguments are as they were
// written.

import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type YAMLMap,
} from 'yaml';
import type { ProblemPath } from '../../../../kernel/files/problem.ts';

/** Values in one file, aliases followed: more is a bomb of aliases and no batch. */
const VALUES_MAX = 2_000_000;
const DEPTH_MAX = 50;

/** Thrown where the values cannot be had; offset in the text. */
export class Unreadable extends Error {
  readonly offset: number;
  constructor(offset: number, what: string) {
    super(what);
    this.offset = offset;
  }
}

/** Plain values of the whole document. Keys without a value are left out. */
export function plainOf(document: Document.Parsed): unknown {
  let values = 0;
  const read = (written: unknown, depth: number): unknown => {
    const node = follow(document, written);
    values += 1;
    if (depth > DEPTH_MAX) throw new Unreadable(startOf(node), 'values are nested too deeply');
    if (values > VALUES_MAX) throw new Unreadable(startOf(node), 'the file has too many values');
    if (isSeq(node)) return node.items.map((item) => read(item, depth + 1));
    if (isMap(node)) return readMap(node, (value) => read(value, depth + 1));
    return isScalar(node) ? scalarOf(node.value, node.source) : null;
  };
  return read(document.contents, 0);
}

/** Where the value of a place begins, or its key; of what is not there, where it should be. */
export function offsetOf(
  document: Document.Parsed,
  at: ProblemPath,
  wanted: 'key' | 'value',
): number {
  let node = follow(document, document.contents);
  let offset = startOf(node);
  for (const [index, part] of at.entries()) {
    const isLast = index === at.length - 1;
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => keyOf(key) === String(part));
      if (pair === undefined) return offset;
      const value = follow(document, pair.value);
      const hasValue = !isNothing(value);
      offset = (isLast && wanted === 'key') || !hasValue ? startOf(pair.key) : startOf(pair.value);
      node = value;
    } else if (isSeq(node) && typeof part === 'number' && part in node.items) {
      offset = startOf(node.items[part]);
      node = follow(document, node.items[part]);
    } else return offset;
  }
  return offset;
}

function readMap(map: YAMLMap, read: (value: unknown) => unknown): Record<string, unknown> {
  // Without the usual prototype: a key may be called __proto__.
  const values: Record<string, unknown> = Object.create(null);
  for (const { key, value } of map.items) {
    const name = keyOf(key);
    if (name === null) throw new Unreadable(startOf(key), 'a key must be one word');
    const plain = read(value);
    if (plain !== null) values[name] = plain;
  }
  return values;
}

function scalarOf(value: unknown, source: string | undefined): unknown {
  if (typeof value !== 'number' && typeof value !== 'bigint') return value;
  return String(value) === source ? Number(value) : (source ?? String(value));
}

/** Nodes by their aliases: to find one, the whole document is read. */
const RESOLVED = new WeakMap<Alias, unknown>();

function follow(document: Document.Parsed, node: unknown): unknown {
  if (!isAlias(node)) return node;
  const alias = node as Alias;
  const found = RESOLVED.get(alias) ?? alias.resolve(document);
  if (found !== undefined) {
    RESOLVED.set(alias, found);
    return found;
  }
  throw new Unreadable(startOf(node), `there is no anchor &${node.source} before this`);
}

function keyOf(key: unknown): string | null {
  return isScalar(key) ? (key.source ?? String(key.value)) : null;
}

function isNothing(node: unknown): boolean {
  return node === null || node === undefined || (isScalar(node) && node.value === null);
}

function startOf(node: unknown): number {
  return (node as Node | null | undefined)?.range?.[0] ?? 0;
}
