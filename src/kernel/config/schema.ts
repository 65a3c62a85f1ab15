// Every key and table of the configuration: the kernel's own, and those that wings add.

import { type Placed, withPlaced } from '../base/placed.ts';
import type { Key } from './key.ts';
import { OWN_KEYS } from './keys.ts';
import type { PlacedTable } from './table.ts';

/** What a wing adds to the configuration. */
export interface KeysPart {
  readonly keys: readonly Key[];
  /** Where they stand among the kernel's. */
  readonly place: Omit<Placed, 'name'>;
  readonly tables?: readonly PlacedTable[];
  /** Beginnings of names that the head reads only once, at its start. */
  readonly atStart?: readonly string[];
}

/** A wing as the reader of the configuration knows it. */
export interface KeysWing {
  readonly keys?: () => Promise<KeysPart>;
}

/** What may be configured. */
export interface Schema {
  readonly keys: readonly Key[];
  /** Those of wings. */
  readonly tables: readonly PlacedTable[];
  /** Beginnings of names of wings that the head reads only once, at its start. */
  readonly atStart: readonly string[];
}

/** What the kernel knows, with what these wings add in its place. */
export async function schemaOf(wings: readonly KeysWing[]): Promise<Schema> {
  const parts = await Promise.all(wings.flatMap(({ keys }) => keys?.() ?? []));
  const more = parts.flatMap(({ keys, place }) => keys.map((key) => ({ ...key, ...place })));
  return {
    keys: withPlaced(OWN_KEYS, more),
    tables: parts.flatMap(({ tables }) => tables ?? []),
    atStart: parts.flatMap(({ atStart }) => atStart ?? []),
  };
}
