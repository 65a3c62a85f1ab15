// The wings in the program of a head: what they add to it, and what they wait for.

import type { Config } from '../kernel/config/config.ts';
import type { Head } from '../kernel/head/head.ts';
import type { HttpSide, HttpWings } from '../kernel/head/http/server.ts';
import type { HeadProgram, Wing } from '../kernel/wing.ts';
import { WINGS } from '../wings.ts';

export interface HeadWings extends HttpWings {
  /** The listeners are open. Rejects with words. */
  serving(head: Head, door: HttpSide): Promise<void>;
  /** Throws a failure that says what is wrong; the returned function puts it in force. */
  reread(config: Config): () => void;
  end(): Promise<void>;
}

/** In the order of the list. */
export async function openWings(
  program: Pick<HeadProgram, 'options' | 'log' | 'audit'>,
  wings: readonly Wing[] = WINGS,
): Promise<HeadWings> {
  const begins: Parameters<HeadProgram['onServing']>[0][] = [];
  const readers: Parameters<HeadProgram['onReload']>[0][] = [];
  const ends: Parameters<HeadProgram['onEnd']>[0][] = [];
  const whole: HeadProgram = {
    ...program,
    onServing: (begin) => begins.push(begin),
    onReload: (read) => readers.push(read),
    onEnd: (end) => ends.push(end),
  };
  return {
    parts: await Promise.all(wings.flatMap(({ head }) => head?.(whole) ?? [])),
    apis: await Promise.all(wings.flatMap(({ api }) => api?.() ?? [])),
    async serving(head, door) {
      for (const begin of begins) await begin(head, door);
    },
    reread(config) {
      const applies = readers.map((read) => read(config));
      return () => {
        for (const apply of applies) apply();
      };
    },
    async end() {
      for (const end of ends) await end();
    },
  };
}
