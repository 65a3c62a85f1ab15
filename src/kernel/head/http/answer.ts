// Answers: a JSON value, or a refusal in its one form.

import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Failure } from '../../api/failure.ts';
import { formatRefusal, KINDS, kindOf, type Refusal } from '../../model/errors.ts';

/** `ends: false`: all of the answer goes out, and ending it is left to the caller. */
export interface Sending {
  readonly ends: boolean;
}

function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  sending: Sending = { ends: true },
): void {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  });
  if (sending.ends) response.end(body);
  else response.write(body);
}

/** A whole answer, compressed for who takes that. */
export async function answerJson(response: ServerResponse, value: unknown): Promise<void> {
  const plain = Buffer.from(JSON.stringify(value));
  const short = await packed(plain, String(response.req.headers['accept-encoding'] ?? ''));
  const body = short ?? plain;
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': body.length,
    ...(short === null ? {} : { 'content-encoding': 'gzip' }),
    'cache-control': 'no-store',
    vary: 'accept-encoding',
  });
  response.end(body);
}

/** The status follows the refusal's kind. Returns it. */
export function sendRefusal(response: ServerResponse, refusal: Refusal, sending?: Sending): number {
  const status = KINDS[kindOf(refusal.code)].http;
  if (response.headersSent) {
    // An answer that has begun cannot become a refusal; the cut tells that it is not complete.
    response.destroy();
    return status;
  }
  // An answer to HEAD has no body to say it in.
  if (response.req.method === 'HEAD') response.setHeader('weft-refusal', refusal.code);
  if (status === 401) response.setHeader('www-authenticate', 'Bearer');
  if (status === 429) response.setHeader('retry-after', '1');
  sendJson(response, status, { error: viewRefusal(refusal) }, sending);
  return status;
}

/** A refusal in the form of answers, also of the results of a bulk request. */
export function viewRefusal(refusal: Refusal): Failure {
  const { code, details, hint } = refusal;
  const message = formatRefusal({ code, details });
  return { code, kind: kindOf(code), message, details: { ...details }, hint: hint ?? null };
}

// Long answers are sent compressed to who takes that: a list of a thousand jobs is a megabyte of
// words that repeat. Only whole answers: what is sent as it comes is never held back for this. Done
// beside the head's own thread, and quickly rather than well.

/** Shorter ones fit into few packets as they are. */
const BYTES_MIN = 4096;
/** At once: the threads that do it also read and write files. Who comes beyond gets it plain. */
const PACKING_MAX = 2;
/** The quickest: a third more bytes than the best, for a tenth of its time. */
const LEVEL = 1;

const pack = promisify(gzip);
let packing = 0;

/** The bytes compressed; null: that is not worth it, or too much else is being compressed. */
async function packed(bytes: Buffer, accepted: string | undefined): Promise<Buffer | null> {
  if (bytes.length < BYTES_MIN || packing >= PACKING_MAX || !takesGzip(accepted)) return null;
  packing += 1;
  try {
    return await pack(bytes, { level: LEVEL });
  } finally {
    packing -= 1;
  }
}

/** What header Accept-Encoding says (RFC 9110, section 12.5.3); of nothing we make nothing. */
export function takesGzip(accepted: string | undefined): boolean {
  const weights = new Map<string, number>();
  for (const part of (accepted ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    const weight = parameters.find((text) => text.startsWith('q='))?.slice(2) ?? '1';
    weights.set(name, Number(weight) || 0);
  }
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0;
}
