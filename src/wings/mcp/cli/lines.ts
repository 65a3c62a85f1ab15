// Lines of a stream, each of bounded size.

/** A message with a script in it is far shorter. */
export const LINE_BYTES_MAX = 4 * 1_048_576;

/** Resolves at the end. Null stands for a line that is longer than it may be. */
export async function readLines(
  stream: NodeJS.ReadableStream,
  take: (line: string | null) => void,
): Promise<void> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  let isLonger = false;
  const end = (): void => {
    take(isLonger ? null : Buffer.concat(pieces).toString('utf8'));
    pieces = [];
    bytes = 0;
    isLonger = false;
  };
  const keep = (piece: Buffer): void => {
    const some = piece.subarray(0, Math.max(0, LINE_BYTES_MAX - bytes));
    bytes += some.length;
    isLonger ||= some.length < piece.length;
    if (some.length > 0) pieces.push(some);
  };
  for await (const chunk of stream) {
    const all = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    let from = 0;
    for (let at = all.indexOf(10); at >= 0; at = all.indexOf(10, from)) {
      keep(all.subarray(from, at));
      end();
      from = at + 1;
    }
    keep(all.subarray(from));
  }
  if (bytes > 0) end();
}
