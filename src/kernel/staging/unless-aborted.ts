// Waits for what others do, for as long as whoever waits is wanted.

/** Rejects with the reason of the signal when that comes first. */
export async function unlessAborted<T>(others: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  return Promise.race([others, aborted]).finally(() => signal.removeEventListener('abort', stop));
}
