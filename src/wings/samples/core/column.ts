// A column of codes as bytes: the first one, then differences; what stays the same is counted. A
// step that is not far from the one before costs a byte.

const MORE = 0x80;
/** More than any column has: what is read comes from a disk. */
const COUNT_MAX = 100_000;

export function pack(codes: readonly number[]): Uint8Array {
  const bytes: number[] = [];
  let last = 0;
  for (let at = 0; at < codes.length; ) {
    const code = codes[at] as number;
    let run = 1;
    while (codes[at + run] === code && code === last) run += 1;
    if (code === last) {
      bytes.push(0);
      write(bytes, run);
    } else {
      write(bytes, zigzag(code - last));
      run = 1;
    }
    last = code;
    at += run;
  }
  return Uint8Array.from(bytes);
}

/** Every code up to where the bytes cannot be read. */
export function unpack(bytes: Uint8Array): number[] {
  const codes: number[] = [];
  const place = { at: 0 };
  let last = 0;
  while (place.at < bytes.length && codes.length < COUNT_MAX) {
    const step = read(bytes, place);
    if (step === 0) {
      const run = Math.min(read(bytes, place), COUNT_MAX - codes.length);
      for (let count = 0; count < run; count += 1) codes.push(last);
      continue;
    }
    last += step % 2 === 0 ? step / 2 : -(step + 1) / 2;
    codes.push(last);
  }
  return codes;
}

/** 1, -1, 2, … as 2, 1, 4, …: small ones are short, and none is 0. */
function zigzag(step: number): number {
  return step > 0 ? 2 * step : -2 * step - 1;
}

function write(bytes: number[], number: number): void {
  let left = number;
  for (; left >= MORE; left = Math.floor(left / MORE)) bytes.push((left % MORE) + MORE);
  bytes.push(left);
}

function read(bytes: Uint8Array, place: { at: number }): number {
  let number = 0;
  let unit = 1;
  for (let count = 0; count < 5; count += 1) {
    const byte = bytes[place.at] ?? 0;
    place.at += 1;
    number += (byte % MORE) * unit;
    if (byte < MORE) break;
    unit *= MORE;
  }
  return number;
}
