// How bodies of contents are compressed between the head and another machine.

import { Readable } from 'node:stream';
import {
  CODING_HEADER,
  CODINGS,
  type Coding,
  compressed,
  decompressed,
  pays,
  READS_HEADER,
} from '../../api/coding.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import type { Call } from './call.ts';

type Asking = Pick<Call<never>, 'local' | 'incoming'>;

/** What whoever asks may send. On one machine, compressing costs more than it saves. */
export function codingsFor({ local, incoming }: Asking): readonly Coding[] {
  const { remoteAddress, localAddress } = incoming.socket;
  const isNear = local || remoteAddress === undefined || remoteAddress === localAddress;
  return isNear ? [] : CODINGS;
}

/** Whether and how to compress an answer that begins like this. */
export async function codingOf(
  asking: Asking,
  sample: () => Promise<Uint8Array> | Uint8Array,
): Promise<Coding | null> {
  const read = String(asking.incoming.headers[READS_HEADER] ?? '').split(/, */);
  const coding = codingsFor(asking).find((known) => read.includes(known));
  return coding !== undefined && pays(await sample()) ? coding : null;
}

export function codingHeaders(coding: Coding | null): Readonly<Record<string, string>> {
  return coding === null ? {} : { [CODING_HEADER]: coding };
}

/** The bytes of an answer, as they go out. */
export function coded(coding: Coding | null, bytes: AsyncIterable<Uint8Array>): Readable {
  const plain = bytes instanceof Readable ? bytes : Readable.from(bytes, { highWaterMark: 1 });
  return coding === null ? plain : compressed(plain);
}

/** The body of a request as its sender has it; `bytes`: as it comes. */
export function plainBody(
  { incoming }: Pick<Asking, 'incoming'>,
  bytes: AsyncIterable<Uint8Array>,
): Result<AsyncIterable<Uint8Array>, Refusal> {
  const said = incoming.headers[CODING_HEADER];
  if (said === undefined) return ok(bytes);
  if (!CODINGS.some((known) => known === said)) {
    const known = CODINGS.join(', ') || 'none';
    const what = `header ${CODING_HEADER}: '${String(said)}' is not read here; known: ${known}`;
    return err(refuse('argument.invalid', { what }));
  }
  return ok(decompressed(Readable.from(bytes, { highWaterMark: 1 })));
}
