// What gives up with the first of several signals.

/** `AbortSignal.any` is younger than some browsers that the page serves. */
export function eitherOf(...signals: readonly AbortSignal[]): AbortSignal {
  const { any } = AbortSignal as Partial<Pick<typeof AbortSignal, 'any'>>;
  return any === undefined ? firstOf(signals) : any.call(AbortSignal, [...signals]);
}

function firstOf(signals: readonly AbortSignal[]): AbortSignal {
  const first = new AbortController();
  for (const one of signals) {
    const end = (): void => first.abort(one.reason);
    if (one.aborted) end();
    else one.addEventListener('abort', end, { once: true, signal: first.signal });
  }
  return first.signal;
}
