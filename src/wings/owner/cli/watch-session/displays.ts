// Names of X displays, and what proves to a server that its user asks: ~/.Xauthority.

import { readFileSync } from 'node:fs';
import { homedir, hostname } from 'node:os';
import path from 'node:path';
import type { Environment } from '../../../../kernel/config/config.ts';
import { usage } from '../../../../kernel/model/failure.ts';
import type { Cookie } from './x11.ts';

const METHOD = 'MIT-MAGIC-COOKIE-1';
/** Families of Xauthority: the machine's own by name, and any. */
const [LOCAL, WILD] = [256, 65_535];

/** Number of a display of this machine. Throws a usage failure for any other. */
export function localDisplay(text: string): number {
  const match = /^(?:unix)?:(\d{1,5})(?:\.\d{1,3})?$/.exec(text);
  if (match !== null) return Number(match[1]);
  const hint = 'It is about who sits at this machine: name a display such as :0.';
  throw usage(`'${text}' is no display of this machine`, hint);
}

/** The proof for this display; null: none is kept, and the server may let its own user in. */
export function cookieFor(display: number, environment: Environment): Cookie | null {
  const file =
    environment['XAUTHORITY'] || path.join(environment['HOME'] || homedir(), '.Xauthority');
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch {
    return null; // Some display managers keep none; then the server says whether it needs one.
  }
  return findCookie(bytes, display, hostname());
}

/** Proof for this host's name: the file may be shared by many machines. */
export function findCookie(bytes: Buffer, display: number, host: string): Cookie | null {
  let other: Cookie | null = null;
  for (const { family, address, number, name, data } of entriesIn(bytes)) {
    if (name !== METHOD || (number !== '' && number !== String(display))) continue;
    if (family === WILD || (family === LOCAL && address === host)) return { name, data };
    if (family === LOCAL) other ??= { name, data };
  }
  return other;
}

interface AuthorityEntry {
  readonly family: number;
  readonly address: string;
  readonly number: string;
  readonly name: string;
  readonly data: Buffer;
}

/** Up to where the file makes sense. Lengths are big-endian, whatever the machine. */
function entriesIn(bytes: Buffer): AuthorityEntry[] {
  const found: AuthorityEntry[] = [];
  for (let at = 0; at + 2 <= bytes.length; ) {
    const family = bytes.readUInt16BE(at);
    at += 2;
    const fields: Buffer[] = [];
    while (fields.length < 4 && at + 2 <= bytes.length) {
      const end = at + 2 + bytes.readUInt16BE(at);
      if (end > bytes.length) return found;
      fields.push(bytes.subarray(at + 2, end));
      at = end;
    }
    const [address, number, name, data] = fields;
    if (address === undefined || number === undefined || name === undefined || !data) return found;
    const text = (field: Buffer): string => field.toString('latin1');
    found.push({ family, address: text(address), number: text(number), name: text(name), data });
  }
  return found;
}
