// File contents: who lacks which, taking them in pieces, and reading them in ranges.

import { pipeline } from 'node:stream/promises';
import { BLOB_HEADERS } from '../../../api/blobs.ts';
import { err, ok } from '../../../core/base/result.ts';
import type { BlobHash } from '../../../core/model/blob.ts';
import { refuse } from '../../../core/model/errors.ts';
import { BLOB_STALL_MS } from '../../../core/model/limits.ts';
import { readRange } from '../byte-range.ts';
import { readBytes } from '../byte-source.ts';
import type { Handler } from '../call.ts';

const CHUNK_BYTES = 256 * 1024;

export const lackingBlobs: Handler<'lackingBlobs'> = async ({ blobs }, { actor, body }) => {
  const hashes = body.hashes as BlobHash[];
  return ok({ lacking: await blobs.lacking(actor.name, hashes) });
};

export const checkBlob: Handler<'checkBlob'> = ({ blobs }, { actor, params, response }) => {
  const { offset, isHeld } = blobs.progress(actor.name, params.hash as BlobHash);
  response.writeHead(200, {
    'cache-control': 'no-store',
    [BLOB_HEADERS.offset]: offset,
    [BLOB_HEADERS.held]: String(isHeld),
  });
  response.end();
  return ok(null);
};

export const sendBlob: Handler<'sendBlob'> = async ({ blobs, clock }, call) => {
  const { actor, params, query, incoming } = call;
  const source = readBytes(incoming, clock, BLOB_STALL_MS);
  const received = await blobs.receive(actor.name, params.hash as BlobHash, query, source);
  if (!received.ok) return received;
  const { offset, isHeld } = received.value;
  return ok({ offset, held: isHeld });
};

export const readBlob: Handler<'readBlob'> = async ({ blobs }, call) => {
  const { actor, response, incoming, signal } = call;
  const hash = call.params.hash as BlobHash;
  // Whether others have it is nobody's business: the answer is the same.
  if (!blobs.mayRead(actor.name, hash)) return err(refuse('blob.not_found', { hash }));
  const opened = await blobs.open(hash);
  if (!opened.ok) return opened;
  const { file, size } = opened.value;
  try {
    const range = readRange(incoming.headers.range, size);
    if (range.kind === 'outside') {
      const what = `header Range: the content has ${size} bytes`;
      return err(refuse('argument.invalid', { what }));
    }
    const { from, end } = range.kind === 'part' ? range : { from: 0, end: size };
    response.writeHead(range.kind === 'part' ? 206 : 200, {
      'content-type': 'application/octet-stream',
      'content-length': end - from,
      'accept-ranges': 'bytes',
      etag: `"${hash}"`,
      ...(range.kind === 'part' ? { 'content-range': `bytes ${from}-${end - 1}/${size}` } : {}),
    });
    if (end === from) response.end();
    else {
      const options = { start: from, end: end - 1, highWaterMark: CHUNK_BYTES, autoClose: false };
      // The reader that goes, or a head that stops: the cut tells that it is not complete.
      await pipeline(file.createReadStream(options), response, { signal }).catch(() => undefined);
    }
    return ok(null);
  } finally {
    await file.close();
  }
};
