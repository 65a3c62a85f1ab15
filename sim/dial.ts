// How an agent reaches the head: at once, refused while nobody listens, or only after a time-out.

import type { Dialer, Session } from '../src/kernel/ports/net.ts';
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
  const accept = (session: Session): void => world.host.accept(session);
  return { dial: () => dialTo(world, accept) };
}

/** `accept`: what the head does with its end. */
export function dialTo(world: DialWorld, accept: (session: Session) => void): Promise<Session> {
  return new Promise((resolve, reject) => dial(world, { accept, resolve, reject }));
}

interface Dialing {
  readonly accept: (session: Session) => void;
  readonly resolve: (session: Session) => void;
  readonly reject: (error: Error) => void;
}

function dial({ time, link, life, host }: DialWorld, { accept, resolve, reject }: Dialing): void {
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
    accept(pair.head);
    resolve(pair.agent);
  });
}
