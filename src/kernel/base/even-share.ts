// So many among so many places, as evenly as can be.

/** What the place at `at`, from 0, gets of all; the first ones get one more where it is uneven. */
export function evenShare(all: number, places: number, at: number): number {
  return Math.floor(all / places) + (at < all % places ? 1 : 0);
}
