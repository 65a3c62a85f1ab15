// What a look at a head's store, and at the journals of agents, finds.

/** What a look at a store has found, or why it cannot be used by this release. */
export type StoreReading =
  | {
      /** Number of its last record. */
      readonly records: number;
      readonly lastJobId: number;
      /** Layout of its tables, and of those that this release makes. */
      readonly layout: number;
      readonly ownLayout: number;
    }
  | { readonly problem: string };

/** The same of an agent's journal: how many starts of tasks it knows. */
export type JournalReading =
  | { readonly node: string; readonly starts: number }
  | { readonly node: string; readonly problem: string };
