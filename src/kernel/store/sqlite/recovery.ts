// Reading back what was promised: the snapshot and the records after it, checked row by row.

import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { StoreFailure } from '../../ports/store.ts';
import { RECOVERY_PAGE_BYTES } from './bounds.ts';
import type { Connection } from './connection.ts';

/** Records in sequence, back to back; `lengths` says where each ends. */
export interface JournalPage {
  readonly firstSeq: number;
  readonly lengths: Uint32Array;
  readonly bytes: Uint8Array;
}

export interface RecoveredPages {
  readonly snapshot: Uint8Array | null;
  readonly snapshotSeq: number;
  readonly pages: readonly JournalPage[];
}

interface Row {
  readonly seq: number;
  readonly crc: number;
  readonly bytes: Uint8Array;
}

/** Fails with `corrupt` at the first gap and at the first row whose checksum is wrong. */
export function readAll(connection: Connection, directory: string): RecoveredPages {
  const damaged = (what: string) => damage(directory, what);
  const kept = connection.statement('SELECT seq, generation FROM snapshot').get();
  if (kept === undefined) {
    return { snapshot: null, snapshotSeq: 0, pages: readPages(connection, 0, damaged) };
  }
  const snapshotSeq = Number(kept['seq']);
  return {
    snapshot: readSnapshot(connection, Number(kept['generation']), damaged),
    snapshotSeq,
    pages: readPages(connection, snapshotSeq, damaged),
  };
}

/** A log that ended too early may have left pages of the file that do not belong together. */
export function checkStructure(connection: Connection, directory: string): void {
  const row = connection.statement('PRAGMA quick_check(1)').get();
  const said = String(row?.['quick_check']);
  if (said !== 'ok') throw damage(directory, said.replaceAll('\n', ' '));
}

/** The buffers to move to the other thread instead of copying them. */
export function buffersOf(recovered: RecoveredPages): ArrayBuffer[] {
  const views = recovered.pages.flatMap((page) => [page.bytes, page.lengths]);
  if (recovered.snapshot !== null) views.push(recovered.snapshot);
  return views.map((view) => view.buffer as ArrayBuffer);
}

/** Unpacks the pages record by record; the bytes are views into their page, not copies. */
export function* recordsOf(
  pages: readonly JournalPage[],
): Generator<{ readonly seq: number; readonly bytes: Uint8Array }> {
  for (const page of pages) {
    let seq = page.firstSeq;
    let start = 0;
    for (const length of page.lengths) {
      yield { seq, bytes: page.bytes.subarray(start, start + length) };
      seq += 1;
      start += length;
    }
  }
}

type Damaged = (what: string) => StoreFailure;

function readSnapshot(connection: Connection, generation: number, damaged: Damaged): Uint8Array {
  const parts: Uint8Array[] = [];
  const rows = connection
    .statement('SELECT part, crc, bytes FROM snapshot_part WHERE generation = ? ORDER BY part')
    .iterate(generation) as Iterable<{ part: number; crc: number; bytes: Uint8Array }>;
  for (const { part, crc, bytes } of rows) {
    if (part !== parts.length || crc32(bytes) !== crc)
      throw damaged(`part ${part} of the snapshot`);
    parts.push(bytes);
  }
  if (parts.length === 0) throw damaged('the snapshot is missing');
  return joined(parts);
}

function readPages(connection: Connection, snapshotSeq: number, damaged: Damaged): JournalPage[] {
  const pages: JournalPage[] = [];
  let rows: Row[] = [];
  let bytes = 0;
  const flush = () => {
    if (rows.length > 0) pages.push(toPage(rows));
    rows = [];
    bytes = 0;
  };
  let expected = snapshotSeq + 1;
  for (const row of journalAfter(connection, snapshotSeq)) {
    if (row.seq !== expected)
      throw damaged(`record ${expected} is missing; the next one is ${row.seq}`);
    if (crc32(row.bytes) !== row.crc)
      throw damaged(`record ${row.seq} differs from what was written`);
    expected += 1;
    rows.push(row);
    bytes += row.bytes.length;
    if (bytes >= RECOVERY_PAGE_BYTES) flush();
  }
  flush();
  return pages;
}

function journalAfter(connection: Connection, seq: number): Iterable<Row> {
  return connection
    .statement('SELECT seq, crc, bytes FROM journal WHERE seq > ? ORDER BY seq')
    .iterate(seq) as unknown as Iterable<Row>;
}

function toPage(rows: readonly Row[]): JournalPage {
  return {
    firstSeq: rows[0]?.seq ?? 0,
    lengths: Uint32Array.from(rows, (row) => row.bytes.length),
    bytes: joined(rows.map((row) => row.bytes)),
  };
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let start = 0;
  for (const part of parts) {
    whole.set(part, start);
    start += part.length;
  }
  return whole;
}

function damage(directory: string, what: string): StoreFailure {
  return new StoreFailure(
    'corrupt',
    `${join(directory, 'weft.db')} is damaged: ${what}. Keep the file, check the disk, and ` +
      'restore a copy; nothing was changed.',
  );
}
