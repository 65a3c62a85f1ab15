// Functions that one line of a program makes differ in the values that they captured, not in their
// code. Where those are few primitives they go with each call: workers then compile one function,
// not ten thousand.

import { type Cell, type SentFunction, WITH_VARIABLES } from './packed-value.ts';
import { isSmall, readSmall, VARIABLES_MAX } from './small.ts';

/** Values for the cells of a function, in order. */
export type Variables = readonly unknown[];

/** A function without values, and the values. */
export interface Split {
  readonly sent: SentFunction;
  readonly variables: Variables;
}

/** Returns null when it captured no primitives, too many, or assigns what it captured. */
export function splitVariables(sent: SentFunction): Split | null {
  if (sent.resets === true) return null;
  const variables: unknown[] = [];
  const cells = sent.cells.map((cell): Cell => {
    if (!('value' in cell) || !isSmall(cell.value)) return cell;
    return { variable: variables.push(cell.value) - 1 };
  });
  if (variables.length === 0 || variables.length > VARIABLES_MAX) return null;
  return { sent: { ...sent, cells }, variables };
}

const HEAD_BYTES = 5;

/** The arguments of a call with the values for its function before them. */
export function withVariables(variables: Variables, args: Uint8Array): Buffer {
  const text = JSON.stringify(variables);
  const textBytes = Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + textBytes + args.length);
  bytes[0] = WITH_VARIABLES;
  bytes.writeUInt32LE(textBytes, 1);
  bytes.write(text, HEAD_BYTES);
  bytes.set(args, HEAD_BYTES + textBytes);
  return bytes;
}

/** What a call brings: `variables` is null when its function needs none. */
export interface Brought {
  readonly variables: Variables | null;
  readonly args: Buffer;
}

/** The other side of `withVariables`. Throws RangeError for bytes that are none. */
export function readBrought(bytes: Buffer): Brought {
  if (bytes[0] !== WITH_VARIABLES) return { variables: null, args: bytes };
  const end = HEAD_BYTES + (bytes.length < HEAD_BYTES ? 0 : bytes.readUInt32LE(1));
  if (end > bytes.length) throw new RangeError('the values of a function are cut off');
  const variables = readSmall(bytes.toString('utf8', HEAD_BYTES, end));
  if (!Array.isArray(variables)) throw new RangeError('the values of a function are no list');
  return { variables, args: bytes.subarray(end) };
}
