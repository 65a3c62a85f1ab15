// Sessions that logind knows, by its files. Its IdleHint is not asked: some desktops never set
// it, and a session would look used for ever.

import { existsSync } from 'node:fs';
import { type Detector, namesIn, plain, readOrNull } from './detector.ts';

const BY = 'logind';

export function logind(directory = '/run/systemd'): Detector {
  return {
    of: 'sessions',
    look() {
      const names = namesIn(`${directory}/sessions`).filter((name) => !name.includes('.'));
      // Where logind runs there is always this seat.
      if (names.length === 0 && !existsSync(`${directory}/seats/seat0`)) {
        return [{ kind: 'blind', by: BY, of: 'sessions', why: `no logind runs (${directory})` }];
      }
      const texts = names.map((name) => readOrNull(`${directory}/sessions/${name}`) ?? '');
      const who = texts.flatMap((text) => personIn(text)).sort();
      return [{ kind: 'sessions', by: BY, who: [...new Set(who)] }];
    },
  };
}

/** `alice on tty2`; nobody of a session that is ending, or that is no person's. */
export function personIn(session: string): string[] {
  const field = (name: string): string =>
    new RegExp(`^${name}=(.*)$`, 'm').exec(session)?.[1] ?? '';
  const isPerson = field('CLASS').startsWith('user') && field('STATE') !== 'closing';
  if (!isPerson || field('USER') === '') return [];
  const place = field('TTY') || field('DISPLAY') || field('SERVICE') || 'no terminal';
  const host = field('REMOTE_HOST');
  return [plain(`${field('USER')} on ${place}${host === '' ? '' : ` from ${host}`}`)];
}
