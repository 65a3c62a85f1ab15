// Requests that wait for others: some are on their way at once.

const AT_ONCE = 4;

/** Does something with each, some at a time; the first error ends it. */
export async function atOnce<T>(
  all: readonly T[],
  work: (one: T, index: number) => Promise<unknown>,
): Promise<void> {
  const waiting = all.entries();
  let isOver = false;
  const worker = async (): Promise<void> => {
    for (const [index, one] of waiting) {
      if (isOver) return;
      await work(one, index).catch((error: unknown) => {
        isOver = true;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
