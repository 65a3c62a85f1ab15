// One record of a release is one file of text: JSON, compressed, as base64 in lines.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Recovered } from '../../src/kernel/ports/store.ts';

const HERE = import.meta.dirname;

/** What a store gave back, and what the release that wrote it made of that. */
export interface JournalRecord {
  readonly snapshotSeq: number;
  readonly snapshot: Uint8Array | null;
  readonly entries: readonly Uint8Array[];
  readonly seq: number;
  readonly state: unknown;
}

export const VERSIONS: readonly string[] = readdirSync(HERE, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

/** Names of a release's records that begin so, without their ending. */
export function recordsOf(version: string, prefix: string): string[] {
  const names = readdirSync(join(HERE, version)).map((file) => file.replace(/\.txt$/, ''));
  return names.filter((name) => name.startsWith(prefix)).sort();
}

export function readRecord<T>(version: string, name: string): T {
  const text = readFileSync(join(HERE, version, `${name}.txt`), 'utf8');
  const json = gunzipSync(Buffer.from(text, 'base64')).toString();
  return JSON.parse(json, (_, one) => (isBytes(one) ? Buffer.from(one.base64, 'base64') : one)) as T;
}

export function writeRecord(folder: string, name: string, value: unknown): void {
  const json = JSON.stringify(value, (_, one) => (isBuffer(one) ? { base64: toText(one) } : one));
  const lines = toText(gzipSync(json, { level: 9 })).match(/.{1,100}/g) ?? [];
  const file = join(folder, `${name}.txt`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${lines.join('\n')}\n`);
}

/** What a Buffer or Uint8Array has become when `JSON.stringify` shows it to its replacer. */
function isBuffer(one: unknown): one is { data: number[] } | Uint8Array {
  return one instanceof Uint8Array || (one as { type?: unknown } | null)?.type === 'Buffer';
}

function isBytes(one: unknown): one is { base64: string } {
  return typeof (one as { base64?: unknown } | null)?.base64 === 'string';
}

function toText(one: { data: number[] } | Uint8Array): string {
  return Buffer.from(one instanceof Uint8Array ? one : one.data).toString('base64');
}

export function recoveredFrom(record: JournalRecord): Recovered {
  const { snapshotSeq, snapshot, entries } = record;
  const common = { room: 'enough', loss: null, isElsewhere: false } as const;
  return { ...common, snapshot, snapshotSeq, records: number(entries, snapshotSeq + 1) };
}

/** Entries as the store gives them: numbered on from the snapshot. */
export function number(
  entries: readonly Uint8Array[],
  firstSeq: number,
): { seq: number; bytes: Uint8Array }[] {
  return entries.map((bytes, at) => ({ seq: firstSeq + at, bytes }));
}

/** Instances, undefined and -0 are not part of what must stay readable. */
export function throughJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
