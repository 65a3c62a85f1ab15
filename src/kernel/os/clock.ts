// The Clock port on Node.js.

import { uptime } from 'node:os';
import type { BootClock, Clock } from '../ports/clock.ts';

/** `monotonic` is CLOCK_MONOTONIC: it counts from boot, so a restarted agent reads on. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1000 + nanoseconds / 1_000_000;
  },
  after(delayMs, then) {
    // Node.js fires at once beyond 2^31 ms; waking up after three weeks to wait again does no harm.
    const timer = setTimeout(then, Math.min(delayMs, 0x7fff_ffff));
    return { cancel: () => clearTimeout(timer) };
  },
  soon(then) {
    setImmediate(then);
  },
};

/** `boot`: as in `readBootId`. Read from /proc/uptime, to a hundredth of a second. */
export function systemBootClock(boot: string): BootClock {
  return { boot, sinceMs: () => uptime() * 1000 };
}
