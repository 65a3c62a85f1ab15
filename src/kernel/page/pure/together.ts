// Many fetches, a few at once: the first that fails ends the others.

/** What came of each, in their order. */
export async function together<One, Fetched>(
  all: readonly One[],
  atOnce: number,
  fetchOne: (one: One, signal: AbortSignal) => Promise<Fetched>,
): Promise<Fetched[]> {
  const fetched: Fetched[] = [];
  const gone = new AbortController();
  const left = [...all.entries()];
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      fetched[next[0]] = await fetchOne(next[1], gone.signal);
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, work));
  } finally {
    left.length = 0;
    gone.abort();
  }
  return fetched;
}
