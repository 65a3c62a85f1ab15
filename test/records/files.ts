// The files of one folder of old records, and the way to and from what a store gives back.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Recovered } from '../../src/ports/store.ts';

const LENGTH_BYTES = 4;

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
  const snapshot = join(folder, 'snapshot.bin');
  return {
    snapshot: existsSync(snapshot) ? readFileSync(snapshot) : null,
    snapshotSeq,
    records: unframe(readFileSync(join(folder, 'journal.bin')), snapshotSeq + 1),
  };
}

export function writeFolder(folder: string, recovered: Recovered, expected: Expected): void {
  mkdirSync(folder, { recursive: true });
  const entries = Array.from(recovered.records, (record) => record.bytes);
  writeFileSync(join(folder, 'journal.bin'), frame(entries));
  if (recovered.snapshot !== null) writeFileSync(join(folder, 'snapshot.bin'), recovered.snapshot);
  writeFileSync(join(folder, 'expected.json'), `${JSON.stringify(expected, null, 1)}\n`);
}

export function frame(entries: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(
    entries.flatMap((entry) => {
      const length = Buffer.alloc(LENGTH_BYTES);
      length.writeUInt32LE(entry.length);
      return [length, entry];
    }),
  );
}

/** Throws when the bytes end within an entry. */
export function unframe(bytes: Buffer, firstSeq: number): { seq: number; bytes: Uint8Array }[] {
  const records: { seq: number; bytes: Uint8Array }[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + LENGTH_BYTES + bytes.readUInt32LE(at);
    if (end > bytes.length) throw new RangeError(`journal.bin ends within entry ${records.length}`);
    records.push({ seq: firstSeq + records.length, bytes: bytes.subarray(at + LENGTH_BYTES, end) });
    at = end;
  }
  return records;
}

/** Instances, undefined and -0 are not part of what must stay readable. */
export function throughJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
