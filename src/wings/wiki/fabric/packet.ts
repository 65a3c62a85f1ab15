// Packets of the wiki protocol: eight digits, one byte that nobody reads, and so many bytes of
// text.

import { err, ok, type Result } from '../../../kernel/base/result.ts';
import { type WikiProblem, wikiProblem } from './codes.ts';

const DIGITS = 8;
/** The digits, and the byte that nobody reads. */
export const WIKI_HEADER_BYTES = DIGITS + 1;
/** Maui refuses to read more (32 blocks of 64 KiB). */
export const WIKI_PACKET_BYTES_MAX = 32 * 65_536;

/** Maui and Slurm write a newline where the documentation has a space. */
const DELIMITER = '\n';

/**
 * Size in bytes of what follows the header.
 * @param header its nine bytes; the last may be anything
 */
export function readWikiHeader(header: Uint8Array): Result<number, WikiProblem> {
  const digits = String.fromCharCode(...header.subarray(0, DIGITS));
  if (!/^\d{8}$/.test(digits)) {
    const text = `the packet begins with ${JSON.stringify(digits)}; expected its size in 8 digits`;
    return err(wikiProblem('header', text));
  }
  const size = Number(digits);
  if (size > 0 && size <= WIKI_PACKET_BYTES_MAX) return ok(size);
  const text = `the packet says ${size} bytes; expected 1 to ${WIKI_PACKET_BYTES_MAX}`;
  return err(wikiProblem('header', text));
}

/** Text of a payload; Slurm counts and sends a NUL behind it, Maui does not. */
export function readWikiText(payload: Uint8Array): Result<string, WikiProblem> {
  const end = payload.at(-1) === 0 ? payload.length - 1 : payload.length;
  const body = payload.subarray(0, end);
  if (body.includes(0)) return err(wikiProblem('data', 'a NUL byte stands within the request'));
  try {
    return ok(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return err(wikiProblem('data', 'the request is not UTF-8'));
  }
}

/** Throws when the text is larger than a reader takes: the caller bounds its records. */
export function formatWikiPacket(text: string): Uint8Array {
  const body = new TextEncoder().encode(text);
  if (body.length > WIKI_PACKET_BYTES_MAX) throw new RangeError(`${body.length} bytes in a packet`);
  const header = new TextEncoder().encode(String(body.length).padStart(DIGITS, '0') + DELIMITER);
  const packet = new Uint8Array(header.length + body.length);
  packet.set(header);
  packet.set(body, header.length);
  return packet;
}
