// One HTTP request with bounds on everything: time, size of the answer, and where it may lead.
// Redirects are not followed.

import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { toPlainLine } from '../../../kernel/base/plain-line.ts';

export interface HttpCall {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly timeoutMs: number;
  /** Whether a connection to this address is allowed; absent: to any. */
  readonly mayReach?: (address: string) => boolean;
}

export interface HttpAnswer {
  readonly status: number;
  /** The first 64 KiB of the answer. */
  readonly text: string;
  readonly retryAfterMs: number | undefined;
}

const ANSWER_LENGTH_MAX = 65_536;
/** Characters of what a failure says. */
const WORDS_LENGTH_MAX = 200;

/** Rejects with words about why there was no answer. */
export async function httpCall(call: HttpCall): Promise<HttpAnswer> {
  const literal = call.url.hostname.replace(/^\[|\]$/g, '');
  // A connection to an address asks nobody for it.
  if (isIP(literal) !== 0 && call.mayReach?.(literal) === false) throw refusedAddress([literal]);
  const signal = AbortSignal.timeout(call.timeoutMs);
  try {
    return await answerOf(call, signal);
  } catch (error) {
    if (signal.aborted) throw new Error(`no answer within ${call.timeoutMs / 1000}s`);
    throw error;
  }
}

function answerOf(call: HttpCall, signal: AbortSignal): Promise<HttpAnswer> {
  const { method, url, headers, body, mayReach } = call;
  // Not imported: an import reads every name of the module, and one of them loads a WebSocket
  // client.
  const isSecure = url.protocol === 'https:';
  const { request } = process.getBuiltinModule(isSecure ? 'node:https' : 'node:http');
  return new Promise((resolve, reject) => {
    const length = body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const outgoing = request(
      url,
      {
        method,
        signal,
        agent: false,
        headers: { ...headers, ...length },
        ...(mayReach === undefined ? {} : { lookup: guarded(mayReach) }),
      },
      (answer) => {
        let text = '';
        const end = (): void => {
          answer.destroy();
          const retryAfterMs = secondsOf(answer.headers['retry-after']);
          resolve({ status: answer.statusCode ?? 0, text, retryAfterMs });
        };
        answer.setEncoding('utf8').on('data', (piece: string) => {
          text += piece.slice(0, ANSWER_LENGTH_MAX - text.length);
          if (text.length >= ANSWER_LENGTH_MAX) end();
        });
        answer.on('end', end).on('error', reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body ?? undefined);
  });
}

/** The connection goes to the addresses that were looked at: no second look-up counts. */
function guarded(mayReach: (address: string) => boolean): LookupFunction {
  return (name, options, done) => {
    lookup(name, { ...options, all: true }, (error, addresses) => {
      const open = (addresses ?? []).filter(({ address }) => mayReach(address));
      const [first] = open;
      if (error !== null) done(error, []);
      else if (first === undefined) done(refusedAddress(addresses.map((one) => one.address)), []);
      else if (options.all) done(null, open);
      else done(null, first.address, first.family);
    });
  };
}

function refusedAddress(addresses: readonly string[]): Error {
  const where = addresses.slice(0, 3).join(', ');
  return new Error(`${where} is in no network that this cluster's webhooks may reach`);
}

function secondsOf(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) * 1000 : undefined;
}

/** Words of an error for people, one bounded line; never a header or an address with a secret. */
export function failureWords(error: unknown): string {
  const { code = '', message = String(error) } = error as NodeJS.ErrnoException;
  const words = WORDS[code] ?? message;
  return toPlainLine(words).slice(0, WORDS_LENGTH_MAX);
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was broken',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name could not be looked up',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the host did not answer',
  EPROTO: 'what answers there speaks no TLS that is understood here',
};
