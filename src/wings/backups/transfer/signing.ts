// Requests to an object store, signed as AWS Signature Version 4 says: the secret key never goes
// along, and a request that was changed on its way is refused.

import { createHash, createHmac } from 'node:crypto';

export interface Signer {
  readonly id: string;
  readonly secret: string;
  readonly region: string;
}

export interface Unsigned {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodySha256: string;
}

const SERVICE = 's3';
const ALGORITHM = 'AWS4-HMAC-SHA256';

/** The headers of the request, with when it was made and its signature. `at`: ms since 1970. */
export function signed(request: Unsigned, signer: Signer, at: number): Record<string, string> {
  const { method, url, bodySha256 } = request;
  // 20260131T235959Z
  const time = new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const day = time.slice(0, 8);
  const headers: Record<string, string> = {
    ...request.headers,
    'x-amz-content-sha256': bodySha256,
    'x-amz-date': time,
  };
  const all = Object.entries({ ...headers, host: url.host }).sort(byName);
  const names = all.map(([name]) => name).join(';');
  const canonical = [
    method,
    url.pathname,
    queryOf(url),
    ...all.map(([name, value]) => `${name}:${value.trim()}`),
    '',
    names,
    bodySha256,
  ].join('\n');
  const scope = `${day}/${signer.region}/${SERVICE}/aws4_request`;
  const toSign = [ALGORITHM, time, scope, sha256(canonical)].join('\n');
  const signature = hmac(keyOf(signer, day), toSign).toString('hex');
  const credential = `Credential=${signer.id}/${scope}`;
  headers['authorization'] =
    `${ALGORITHM} ${credential},SignedHeaders=${names},Signature=${signature}`;
  return headers;
}

function keyOf({ secret, region }: Signer, day: string): Buffer {
  let key = hmac(`AWS4${secret}`, day);
  for (const part of [region, SERVICE, 'aws4_request']) key = hmac(key, part);
  return key;
}

function queryOf({ searchParams }: URL): string {
  return [...searchParams]
    .map(([name, value]) => [escaped(name), escaped(value)] as const)
    .sort(byName)
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

/** More is escaped than `encodeURIComponent` does. */
export function escaped(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

const byName = ([one]: readonly [string, string], [other]: readonly [string, string]): number =>
  one < other ? -1 : 1;

const hmac = (key: string | Buffer, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
