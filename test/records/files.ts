// The files of one folder of old records, and the way to and from what a store gives back.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Recovered } from '../../src/ports/store.ts';

/** What the release that wrote the records made of them. */
export interface Expected {
  readonly snapshotSeq: number;
  readonly seq: number;
  readonly state: unknown;
}

export function readExpected(folder: string): Expected {
  return JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8'));
}

export function readRecovered(folder: string): Recovered {
  const { snapshotSeq } = readExpected(folder);
  const [snapshot] = readLines(join(folder, 'snapshot.base64'));
  return {
    snapshot: snapshot ?? null,
    snapshotSeq,
    room: 'enough',
    loss: null,
    records: number(readLines(join(folder, 'journal.base64')), snapshotSeq + 1),
  };
}

export function writeFolder(folder: string, recovered: Recovered, expected: Expected): void {
  mkdirSync(folder, { recursive: true });
  const entries = Array.from(recovered.records, (record) => record.bytes);
  writeLines(join(folder, 'journal.base64'), entries);
  if (recovered.snapshot !== null) {
    writeLines(join(folder, 'snapshot.base64'), [recovered.snapshot]);
  }
  writeFileSync(join(folder, 'expected.json'), `${JSON.stringify(expected, null, 1)}\n`);
}

/** One value per line, so that the repository holds text only. None when there is no such file. */
function readLines(file: string): Uint8Array[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line) => Buffer.from(line, 'base64'));
}

function writeLines(file: string, values: readonly Uint8Array[]): void {
  const lines = values.map((value) => `${Buffer.from(value).toString('base64')}\n`);
  writeFileSync(file, lines.join(''));
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
