// A tar file, as POSIX.1-2017 has it (pax, section 4.3): what comes before and after each file in
// it.

const BLOCK = 512;
const NAME_BYTES_MAX = 100;
/** Seconds since 1970, in eleven octal digits. */
const TIME_MAX = 8 ** 11 - 1;
const KINDS = { file: '0', link: '2', folder: '5' } as const;

export interface TarEntry {
  readonly path: string;
  readonly kind: keyof typeof KINDS;
  /** Bytes that follow. */
  readonly size: number;
  readonly mode: number;
  /** Ms since 1970. */
  readonly modifiedAt: number;
  /** For links. */
  readonly target?: string | undefined;
}

/** Blocks that go before the bytes of a file, and all that a folder or a link has. */
export function tarHeader(entry: TarEntry): Uint8Array<ArrayBuffer> {
  const { kind, target = '' } = entry;
  const path = kind === 'folder' ? `${entry.path}/` : entry.path;
  const records = [
    ...(isPlain(path) ? [] : [paxRecord('path', path)]),
    ...(isPlain(target) ? [] : [paxRecord('linkpath', target)]),
  ];
  const own = block({
    ...entry,
    kind: KINDS[kind],
    name: isPlain(path) ? path : 'long',
    target: isPlain(target) ? target : 'long',
  });
  if (records.length === 0) return own;
  const long = new TextEncoder().encode(records.join(''));
  const pax = { name: 'pax', kind: 'x', size: long.length, mode: 0o644, modifiedAt: 0, target: '' };
  return joined([block(pax), long, tarPadding(long.length), own]);
}

function isPlain(text: string): boolean {
  return text.length <= NAME_BYTES_MAX && /^[\x20-\x7e]*$/.test(text);
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

interface Block {
  readonly name: string;
  readonly kind: string;
  readonly size: number;
  readonly mode: number;
  readonly modifiedAt: number;
  readonly target: string;
}

function block({ name, kind, size, mode, modifiedAt, target }: Block): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(BLOCK);
  const text = (at: number, words: string): void => {
    bytes.set(new TextEncoder().encode(words), at);
  };
  const octal = (at: number, width: number, value: number): void => {
    text(at, value.toString(8).padStart(width - 1, '0'));
  };
  text(0, name);
  octal(100, 8, mode & 0o777);
  octal(108, 8, 0);
  octal(116, 8, 0);
  octal(124, 12, size);
  octal(136, 12, Math.min(TIME_MAX, Math.max(0, Math.floor(modifiedAt / 1000))));
  text(148, ' '.repeat(8));
  text(156, kind);
  text(157, target);
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
