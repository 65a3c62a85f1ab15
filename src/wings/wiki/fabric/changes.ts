// When each record was last seen to change: the protocol wants a time of every one, and asks for
// those changed since.

import { formatWikiRecord, type WikiRecord } from './reply.ts';
import type { WikiSelection } from './request.ts';

interface Seen {
  readonly text: string;
  readonly atS: number;
}

export class WikiChanges {
  #seen = new Map<string, Seen>();

  /**
   * The records that are meant, as a reply has them, of at most so many bytes together. Ids that
   * nobody has are passed over.
   */
  select(
    records: Iterable<WikiRecord>,
    { sinceS, ids }: WikiSelection,
    { nowS, bytesMax }: { readonly nowS: number; readonly bytesMax: number },
  ): string[] {
    const wanted = ids === null ? null : new Set(ids);
    const seen = new Map<string, Seen>();
    const selected: string[] = [];
    let bytes = 0;
    for (const record of records) {
      const atS = this.#changedAt(record, nowS, seen);
      if (atS < sinceS || wanted?.has(record.id) === false) continue;
      const text = formatWikiRecord({ ...record, fields: [['UPDATETIME', atS], ...record.fields] });
      bytes += new TextEncoder().encode(text).length + 1;
      if (bytes > bytesMax) break;
      selected.push(text);
    }
    // What a full reply left out was not looked at and keeps its time.
    for (const [id, one] of this.#seen) if (bytes > bytesMax && !seen.has(id)) seen.set(id, one);
    this.#seen = seen;
    return selected;
  }

  #changedAt(record: WikiRecord, nowS: number, seen: Map<string, Seen>): number {
    const text = formatWikiRecord(record);
    const before = this.#seen.get(record.id);
    const one = before?.text === text ? before : { text, atS: nowS };
    seen.set(record.id, one);
    return one.atS;
  }
}
