// Pictures as PNG files have them: 8 bits a channel, not interlaced. Enough for most files, and no
// package is needed for it.

import { crc32, deflateSync, inflateSync } from 'node:zlib';

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** Bytes of a pixel: 1 gray, 2 gray and alpha, 3 colours, 4 colours and alpha. */
  readonly channels: number;
  readonly pixels: Uint8Array;
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Type of colour in the file, by channels; the other way round below. */
const TYPES = [0, 0, 4, 2, 6];

/** Throws an error that says what this file is not. */
export function decode(file: Buffer): Picture {
  if (!file.subarray(0, 8).equals(SIGNATURE)) throw new Error('not a PNG');
  const width = file.readUInt32BE(16);
  const height = file.readUInt32BE(20);
  const [bits, type = 9, , , interlace] = file.subarray(24, 29);
  const channels = TYPES.lastIndexOf(type);
  if (bits !== 8 || channels < 1 || interlace !== 0) throw new Error('a PNG of another kind');
  const parts: Buffer[] = [];
  for (let at = 8; at < file.length; ) {
    const size = file.readUInt32BE(at);
    const kind = file.toString('latin1', at + 4, at + 8);
    if (kind === 'IDAT') parts.push(file.subarray(at + 8, at + 8 + size));
    at += size + 12;
  }
  const picture = { width, height, channels, pixels: new Uint8Array(width * height * channels) };
  unfilter(inflateSync(Buffer.concat(parts)), picture);
  return picture;
}

/** Each line of the file begins with how it was predicted: from the left, from above, or both. */
function unfilter(data: Uint8Array, { width, height, channels, pixels }: Picture): void {
  const line = width * channels;
  if (data.length !== height * (line + 1)) throw new Error('a PNG that is cut off');
  for (let y = 0; y < height; y += 1) {
    const filter = data[y * (line + 1)] ?? 0;
    for (let x = 0; x < line; x += 1) {
      const at = y * line + x;
      const left = x < channels ? 0 : (pixels[at - channels] ?? 0);
      const above = y === 0 ? 0 : (pixels[at - line] ?? 0);
      const corner = x < channels || y === 0 ? 0 : (pixels[at - line - channels] ?? 0);
      const guess = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter];
      pixels[at] = (data[y * (line + 1) + 1 + x] ?? 0) + (guess ?? 0);
    }
  }
}

/** Whichever of the three is nearest to left + above - corner. */
function paeth(left: number, above: number, corner: number): number {
  const toLeft = Math.abs(above - corner);
  const toAbove = Math.abs(left - corner);
  const toCorner = Math.abs(left + above - 2 * corner);
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
}

/** No larger than a square of this side; each pixel is the mean of those that it stands for. */
export function shrink(picture: Picture, side: number): Picture {
  const { width, height, channels, pixels } = picture;
  const factor = Math.max(1, width / side, height / side);
  const small = { width: Math.round(width / factor), height: Math.round(height / factor) };
  const found = new Uint8Array(small.width * small.height * channels);
  for (let y = 0; y < small.height; y += 1) {
    for (let x = 0; x < small.width; x += 1) {
      for (let channel = 0; channel < channels; channel += 1) {
        let sum = 0;
        let count = 0;
        for (let v = Math.floor(y * factor); v < Math.min(height, (y + 1) * factor); v += 1) {
          for (let u = Math.floor(x * factor); u < Math.min(width, (x + 1) * factor); u += 1) {
            sum += pixels[(v * width + u) * channels + channel] ?? 0;
            count += 1;
          }
        }
        found[(y * small.width + x) * channels + channel] = sum / count;
      }
    }
  }
  return { ...small, channels, pixels: found };
}

export function encode({ width, height, channels, pixels }: Picture): Buffer {
  const line = width * channels;
  const data = Buffer.alloc(height * (line + 1));
  for (let y = 0; y < height; y += 1) {
    data.set(pixels.subarray(y * line, (y + 1) * line), y * (line + 1) + 1);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, TYPES[channels] ?? 2], 8);
  const chunks = [chunk('IHDR', header), chunk('IDAT', deflateSync(data)), chunk('IEND')];
  return Buffer.concat([SIGNATURE, ...chunks]);
}

function chunk(kind: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const body = Buffer.concat([Buffer.from(kind, 'latin1'), data]);
  const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  size.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([size, body, sum]);
}
