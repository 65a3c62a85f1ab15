// Who is logged in by utmp(5), which login, sshd and display managers write.

import { readFileSync } from 'node:fs';
import { arch, endianness } from 'node:os';
import { type Detector, plain, reasonOf } from './detector.ts';

const BY = 'utmp';
const FILE = '/run/utmp';
const USER_PROCESS = 7;
/** Length of a record of the C library; where it is 400, its last numbers are longer. */
const LENGTHS: Readonly<Record<string, number>> = { x64: 384, ia32: 384, arm64: 400 };

/** `isAlive`: a session that ended by a crash stays in the file. */
export function utmp(file = FILE, isAlive: (pid: number) => boolean = isThere): Detector {
  return {
    of: 'sessions',
    look() {
      try {
        const bytes = readFileSync(file);
        const who = personsIn(bytes, isAlive).sort();
        return [{ kind: 'sessions', by: BY, who: [...new Set(who)] }];
      } catch (error) {
        const why = `${file} cannot be read: ${reasonOf(error)}`;
        return [{ kind: 'blind', by: BY, of: 'sessions', why }];
      }
    },
  };
}

/** Throws with words where the records are of an unknown form. */
export function personsIn(bytes: Buffer, isAlive: (pid: number) => boolean): string[] {
  const length = LENGTHS[arch()];
  if (length === undefined || endianness() !== 'LE' || bytes.length % length !== 0) {
    throw new Error('its records are of an unknown form');
  }
  const found: string[] = [];
  for (let at = 0; at < bytes.length; at += length) {
    const text = (from: number, size: number): string => {
      const field = bytes.subarray(at + from, at + from + size).toString('utf8');
      return field.split('\0')[0] ?? '';
    };
    const [line, user, host] = [text(8, 32), text(44, 32), text(76, 256)];
    if (bytes.readInt16LE(at) !== USER_PROCESS || user === '') continue;
    if (!isAlive(bytes.readInt32LE(at + 4))) continue;
    // Of a session on the machine itself the display stands there, or the console's name.
    const isHost = host !== '' && !host.startsWith(':') && host !== line;
    found.push(plain(`${user} on ${line}${isHost ? ` from ${host}` : ''}`));
  }
  return found;
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
