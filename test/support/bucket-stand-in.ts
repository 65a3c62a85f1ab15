// An object store in memory, of one bucket. It checks each signature by itself, from what came over
// the line.

import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import type { BucketKeys } from '../../src/wings/backups/transfer/bucket-keys.ts';

const ID = 'AKTEST';
const SECRET = 'a-secret/of+tests';
const REGION = 'lab-1';
const PAGE = 7;

const hex = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');
const mac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/** The code of the error that a store answers with; null: it was signed with the key. */
function whyNotSigned({ method, url = '', headers }: IncomingMessage, body: Buffer): string | null {
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/lab-1\/s3\/aws4_request,\s*SignedHeaders=([^,]+),\s*Signature=([0-9a-f]{64})$/;
  const [, id, day = '', names = '', signature] = pattern.exec(headers.authorization ?? '') ?? [];
  const time = String(headers['x-amz-date']);
  if (id !== ID || !time.startsWith(day)) return 'InvalidAccessKeyId';
  const instant = time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z');
  if (!(Math.abs(Date.parse(instant) - Date.now()) < 900_000)) return 'RequestTimeTooSkewed';
  if (headers['x-amz-content-sha256'] !== hex(body)) return 'XAmzContentSHA256Mismatch';
  if (!['host', 'x-amz-content-sha256', 'x-amz-date'].every((one) => names.includes(one))) {
    return 'AccessDenied';
  }
  const [path, query = ''] = url.split('?');
  const fields = query
    .split('&')
    .filter((one) => one !== '')
    .map((one) => one.replaceAll('+', '%20').replaceAll('*', '%2A'))
    .sort();
  const lines = names.split(';').map((name) => `${name}:${headers[name]}`);
  const request = [method, path, fields.join('&'), ...lines, '', names, hex(body)].join('\n');
  const words = `AWS4-HMAC-SHA256\n${time}\n${day}/${REGION}/s3/aws4_request\n${hex(request)}`;
  const key = [REGION, 's3', 'aws4_request'].reduce(mac, mac(`AWS4${SECRET}`, day));
  return mac(key, words).toString('hex') === signature ? null : 'SignatureDoesNotMatch';
}

export class StandIn {
  readonly objects = new Map<string, Buffer>();
  /** Each request that was taken, `PUT key`. */
  readonly asked: string[] = [];
  /** What becomes of the next requests: a status to answer with, or the line is cut. */
  readonly faults: (number | 'cut')[] = [];
  /** Before now, of all in a listing, in ms; null: it does not say when they were written. */
  age: number | null = 0;
  /** Called before each request is served. */
  before: (request: string) => void = () => undefined;
  keys: BucketKeys = { id: ID, secret: SECRET, region: REGION, session: null, endpoint: '' };

  static async start(t: TestContext): Promise<StandIn> {
    const store = new StandIn();
    const server = createServer(async (request, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      const body = Buffer.concat(pieces);
      const fault = store.faults.shift();
      if (fault === 'cut') return void request.socket.destroy();
      const why = fault === undefined ? whyNotSigned(request, body) : 'SlowDown';
      const { status, answer } =
        why === null ? store.serve(request, body) : { status: fault ?? 403, answer: errorOf(why) };
      response.writeHead(status).end(answer);
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    store.keys = { ...store.keys, endpoint: `http://127.0.0.1:${port}` };
    return store;
  }

  serve(
    { method, url = '' }: IncomingMessage,
    body: Buffer,
  ): { status: number; answer?: Buffer | string } {
    const { pathname, searchParams } = new URL(url, 'http://x');
    const [, bucket, ...parts] = pathname.split('/');
    if (bucket !== 'lab') return { status: 404, answer: errorOf('NoSuchBucket') };
    const key = parts.join('/');
    this.asked.push(`${method} ${key}`);
    this.before(`${method} ${key}`);
    if (key === '') return { status: 200, answer: this.#list(searchParams) };
    if (method === 'PUT') this.objects.set(key, body);
    if (method === 'DELETE') return { status: this.objects.delete(key) ? 204 : 204 };
    const found = this.objects.get(key);
    if (found === undefined) return { status: 404, answer: errorOf('NoSuchKey') };
    return { status: 200, answer: method === 'GET' ? found : '' };
  }

  #list(query: URLSearchParams): string {
    const prefix = query.get('prefix') ?? '';
    const after = query.get('continuation-token') ?? '';
    const all = [...this.objects.keys()].filter((key) => key.startsWith(prefix)).sort();
    if (query.get('delimiter') === '/') {
      const folders = all.flatMap(
        (key) => key.slice(prefix.length).split('/').slice(0, -1)[0] ?? [],
      );
      const names = [...new Set(folders)].map((name) => `<Prefix>${prefix}${name}/</Prefix>`);
      return `<R>${names.map((one) => `<CommonPrefixes>${one}</CommonPrefixes>`).join('')}</R>`;
    }
    const page = all.filter((key) => `&${key}` > after).slice(0, PAGE);
    const at = this.age === null ? '' : new Date(Date.now() - this.age).toISOString();
    const time = at && `<LastModified>${at}</LastModified>`;
    const entries = page.map((key) => {
      const size = `<Size>${this.objects.get(key)?.length}</Size>`;
      return `<Contents><Key>${key}</Key>${time}${size}</Contents>`;
    });
    const last = page.at(-1);
    const isMore = last !== undefined && last !== all.at(-1);
    const next = isMore ? `<NextContinuationToken>&amp;${last}</NextContinuationToken>` : '';
    return `<ListBucketResult>${entries.join('')}${next}</ListBucketResult>`;
  }
}

const errorOf = (code: string): string =>
  `<Error><Code>${code}</Code><Message>said by the stand-in</Message></Error>`;
