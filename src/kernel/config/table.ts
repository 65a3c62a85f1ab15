// What a table of the configuration is: a part of the file whose entries have names of the site's
// own.

import type { Placed } from '../base/placed.ts';
import type { Key } from './key.ts';
import type { Value } from './value.ts';

/** Values by field name; only those that were written. */
export type Fields = ReadonlyMap<string, Value>;
/** Fields by entry name, in the file's order. */
export type Entries = ReadonlyMap<string, Fields>;

/** A part of the file that has entries under names of the site's own. */
export interface Table {
  /** `partitions`: its entries are `partitions.NAME`. */
  readonly section: string;
  /** What an entry is called in messages: `a partition`. */
  readonly entry: string;
  /** An entry is one value (of the only field, named '') or a mapping of fields. */
  readonly fields: readonly Key[];
  /** What is wrong with the entries, each of which may be right by itself. */
  readonly check?: (entries: Entries) => Iterable<EntryProblem>;
}

/** The entry that the words are about. */
export interface EntryProblem {
  readonly name: string;
  readonly what: string;
}

/** A wing's table; its place is named by sections. */
export type PlacedTable = Table & Omit<Placed, 'name'>;
