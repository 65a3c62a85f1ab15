// How an agent reaches the head: at once, refused while nobody listens, or only after a time-out.

import type { Dialer, Session } from '../src/ports/net.ts';
import type { Life, Time } from './clock.ts';
import type { HeadHost } from './head-host.ts';
import type { Link } from './net.ts';

/** How long a connection attempt waits for an answer. */
const DIAL_TIMEOUT_MS = 3000;

export interface DialWorld {
  readonly time: Time;
  readonly link: Link;
  readonly life: Life;
  readonly host: HeadHost;
  readonly name: string;
}

export function dialerOf(world: DialWorld): Dialer {
  return { dial: () => new Promise((resolve, reject) => dial(world, resolve, reject)) };
}

function dial(
  { time, link, life, host }: DialWorld,
  resolve: (session: Session) => void,
  reject: (error: Error) => void,
): void {
  const fail = (words: string, ms: number): void => {
    time.after(ms, () => {
      if (life.alive) reject(new Error(words));
    });
  };
  if (!link.isUp) return fail('no answer', DIAL_TIMEOUT_MS);
  time.after(2 * link.drawDelay(), () => {
    if (!life.alive) return;
    if (!link.isUp) return fail('no answer', DIAL_TIMEOUT_MS);
    if (!host.isUp) return fail('connection refused', 0);
    const pair = link.open(life, host.life);
    host.accept(pair.head);
    resolve(pair.agent);
  });
}
