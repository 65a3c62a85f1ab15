// Contents are compressed on their way from machine to machine where a sample says that it pays:
// with Zstandard (RFC 8878), at its fastest. What is hashed, counted and resumed are the contents.

import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import zlib from 'node:zlib';

export type Coding = 'zstd';

/** The header of a body that is compressed. */
export const CODING_HEADER = 'weft-coding';
/** The header of a request whose answer may be compressed. */
export const READS_HEADER = 'weft-reads';

/** Older versions of Node have none. */
export const CODINGS: readonly Coding[] =
  typeof zlib.createZstdCompress === 'function' ? ['zstd'] : [];

/** The beginning of a content that is tried. */
export const SAMPLE_BYTES = 64 * 1024;
/** Shorter ones cross a line in the time of a packet or two. */
const SAMPLE_BYTES_MIN = 4096;
/** The part of a sample that is left, at most: else the processor works for next to nothing. */
const PAYS_BELOW = 0.8;

const FASTEST = 1;
/** Window that a stream's reader must hold, as a power of two: 512 KiB (RFC 8878 3.1.1.1.2). */
const WINDOW_LOG_MAX = 19;

/** Whether to compress what begins like this. */
export function pays(sample: Uint8Array): boolean {
  if (sample.length < SAMPLE_BYTES_MIN || CODINGS.length === 0) return false;
  const tried = sample.subarray(0, SAMPLE_BYTES);
  return zlib.zstdCompressSync(tried, LEVEL).length < tried.length * PAYS_BELOW;
}

const { ZSTD_c_compressionLevel, ZSTD_c_windowLog, ZSTD_d_windowLogMax } = zlib.constants;
/** With the window that readers take: another release of the library might choose a larger one. */
const LEVEL = {
  params: { [ZSTD_c_compressionLevel]: FASTEST, [ZSTD_c_windowLog]: WINDOW_LOG_MAX },
};

/** Destroying what is returned destroys the source, and what breaks the source breaks it. */
export function compressed(source: Readable): Readable {
  return through(source, zlib.createZstdCompress(LEVEL));
}

/** The same the other way. A sender that asks for too large a window breaks it, too. */
export function decompressed(source: Readable): Readable {
  const params = { [ZSTD_d_windowLogMax]: WINDOW_LOG_MAX };
  return through(source, zlib.createZstdDecompress({ params }));
}

function through(source: Readable, coder: Transform): Readable {
  // Whoever reads the coder hears of what went wrong.
  pipeline(source, coder).catch(() => undefined);
  return coder;
}
