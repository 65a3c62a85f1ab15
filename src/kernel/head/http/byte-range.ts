// The Range header of a request (RFC 9110, section 14): one range of bytes. Whatever else it says
// is as if it were not there, which the RFC allows and every client must be ready for.

export type ByteRange =
  /** All of it. */
  | { readonly kind: 'whole' }
  /** `end`: behind the last byte. */
  | { readonly kind: 'part'; readonly from: number; readonly end: number }
  /** There is no such byte. */
  | { readonly kind: 'outside' };

const ONE = /^bytes=(\d{0,15})-(\d{0,15})$/;

export function readRange(header: string | undefined, size: number): ByteRange {
  const [, first = '', last = ''] = ONE.exec(header?.replaceAll(' ', '') ?? '') ?? [];
  if (first === '' && last === '') return { kind: 'whole' };
  if (first === '')
    return Number(last) === 0 ? { kind: 'outside' } : lastBytesOf(size, Number(last));
  const from = Number(first);
  const end = last === '' ? size : Math.min(size, Number(last) + 1);
  if (last !== '' && Number(last) < from) return { kind: 'whole' };
  return from >= size ? { kind: 'outside' } : { kind: 'part', from, end };
}

/** The last `bytes` of it. */
function lastBytesOf(size: number, bytes: number): ByteRange {
  return size === 0
    ? { kind: 'outside' }
    : { kind: 'part', from: Math.max(0, size - bytes), end: size };
}
