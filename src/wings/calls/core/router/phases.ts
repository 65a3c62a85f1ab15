// From one phase of a call to the next. A call is one object through all of them: it is made for
// every call, and tables and queues hold it.

import type { Call, End, Phase, Worker } from './records.ts';

interface AnyPhase {
  state: Phase['state'];
  worker: Worker | null;
  end: End | null;
  detail: string | null;
}

type In<S extends Phase['state']> = Call & { readonly state: S };

/** No queue is to meet it as one that waits, and no worker has it. */
export function toNowhere(call: Call): void {
  const one = changed(call);
  one.state = 'nowhere';
  one.worker = null;
  one.end = null;
  one.detail = null;
}

/** From nowhere. */
export function toLimbo(call: Call): void {
  changed(call).state = 'limbo';
}

/** From nowhere. */
export function toQueued(call: Call): void {
  changed(call).state = 'queued';
}

/** From wherever no worker has it. */
export function toGiven(call: Call, worker: Worker): void {
  const one = changed(call);
  one.state = 'given';
  one.worker = worker;
}

export function toStarted(call: In<'given'>): void {
  changed(call).state = 'started';
}

export function toEnded(call: Call, end: End): void {
  const one = changed(call);
  one.state = 'ended';
  one.end = end;
  one.detail = null;
}

export function toLost(call: In<'given' | 'started'>, detail: string): void {
  const one = changed(call);
  one.state = 'lost';
  one.detail = detail;
}

/** Nothing of it runs any more, as far as the router has heard. */
export function isOver({ state }: Call): boolean {
  return state === 'ended' || state === 'lost';
}

function changed(call: Call): AnyPhase {
  return call as unknown as AnyPhase;
}
