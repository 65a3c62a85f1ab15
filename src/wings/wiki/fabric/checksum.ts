// The checksum of the Maui wiki protocol: keeps accidents out, not attackers. Its rounds can be
// undone one by one, so that a text with its checksum gives the key away; nothing in it stops a
// replay within the time that stamps may differ. Who may connect is what guards the listener.

/** Two words of the key schedule for each of the four rounds. */
const ROUNDS = [
  [0xcba4e531, 0x12be4590],
  [0x537158eb, 0xab54ce58],
  [0x145cdc3c, 0x6954c7a6],
  [0x0d3fdeb2, 0x15a2ca46],
] as const;

const POLYNOMIAL = 0x1021;

/**
 * What stands behind `CK=` before this text: 16 hexadecimal digits, lower case.
 * @param signed all from `TS=` to the end of the data, without a trailing NUL
 * @param key 32 bits, as `parseWikiKey` reads them
 */
export function wikiChecksum(signed: Uint8Array, key: number): string {
  let left = crc16(signed);
  let right = key >>> 0;
  for (const [first, second] of ROUNDS) {
    const mixed = (left ^ mix(right, first, second)) >>> 0;
    left = right;
    right = mixed;
  }
  return hex(left) + hex(right);
}

/** One round: squares and a product of the halves of the word, modulo 2^32. */
function mix(word: number, first: number, second: number): number {
  const keyed = (word ^ first) >>> 0;
  const low = keyed & 0xffff;
  const high = keyed >>> 16;
  const sum = (Math.imul(low, low) + ~Math.imul(high, high)) >>> 0;
  const turned = ((sum << 16) | (sum >>> 16)) >>> 0;
  return ((turned ^ second) + Math.imul(low, high)) >>> 0;
}

/** CRC-16/XMODEM: initial value 0, most significant bit first. */
function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) {
      crc = (crc & 0x8000 ? (crc << 1) ^ POLYNOMIAL : crc << 1) & 0xffff;
    }
  }
  return crc;
}

function hex(word: number): string {
  return word.toString(16).padStart(8, '0');
}

const KEY_MAX = 0xffff_ffff;

/** A key as C reads a number of base 0: `42`, `0x2a`, `052`. Null: it is none, or over 32 bits. */
export function parseWikiKey(text: string): number | null {
  const word = text.trim();
  const key = /^0x[0-9a-f]+$/i.test(word)
    ? Number.parseInt(word, 16)
    : /^0[0-7]+$/.test(word)
      ? Number.parseInt(word, 8)
      : /^(0|[1-9]\d*)$/.test(word)
        ? Number(word)
        : Number.NaN;
  return key <= KEY_MAX ? key : null;
}
