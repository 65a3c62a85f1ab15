// Answers: a JSON value, or a refusal in its one form.

import type { ServerResponse } from 'node:http';
import type { Failure } from '../../api/failure.ts';
import { formatRefusal, KINDS, kindOf, type Refusal } from '../../model/errors.ts';
import { packed } from './packing.ts';

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
