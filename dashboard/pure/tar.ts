// A tar file, as POSIX.1-2017 has it (pax, section 4.3): what comes before and after each file in it.

const BLOCK = 512;
const NAME_BYTES_MAX = 100;
const FILE_MODE = 0o644;

/** Blocks that go before the bytes of a file. */
export function tarHeader(path: string, size: number): Uint8Array<ArrayBuffer> {
  const name = new TextEncoder().encode(path);
  const isPlain = name.length <= NAME_BYTES_MAX && /^[\x20-\x7e]*$/.test(path);
  if (isPlain) return block(name, size, '0');
  const record = paxRecord('path', path);
  const long = new TextEncoder().encode(record);
  const first = block(new TextEncoder().encode('pax'), long.length, 'x');
  const rest = tarPadding(long.length);
  const last = block(new TextEncoder().encode('long'), size, '0');
  return joined([first, long, rest, last]);
}

/** What fills the last block of a file. */
export function tarPadding(size: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array((BLOCK - (size % BLOCK)) % BLOCK);
}

export function tarEnd(): Uint8Array<ArrayBuffer> {
  return new Uint8Array(2 * BLOCK);
}

/** `27 path=...`: its length counts its own digits. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const bytes = new TextEncoder().encode(rest).length;
  const digits = String(bytes + String(bytes).length).length;
  return `${bytes + digits}${rest}`;
}

function block(name: Uint8Array, size: number, kind: '0' | 'x'): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(BLOCK);
  const text = (at: number, words: string): void => {
    bytes.set(new TextEncoder().encode(words), at);
  };
  const octal = (at: number, width: number, value: number): void => {
    text(at, value.toString(8).padStart(width - 1, '0'));
  };
  bytes.set(name);
  octal(100, 8, FILE_MODE);
  octal(108, 8, 0);
  octal(116, 8, 0);
  octal(124, 12, size);
  octal(136, 12, 0);
  text(148, ' '.repeat(8));
  text(156, kind);
  text(257, 'ustar');
  text(263, '00');
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  text(148, `${sum.toString(8).padStart(6, '0')}\0 `);
  return bytes;
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
