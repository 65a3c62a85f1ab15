// An object store that speaks S3: what lies below a prefix of one bucket. Each request is bounded
// in time and size, and tried again where the other side may be better in a moment.

import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BucketPlace } from '../core/place.ts';
import type { BucketKeys } from './bucket-keys.ts';
import { signed } from './signing.ts';

const REQUEST_MS = 300_000;
const PAUSES_MS = [1000, 4000, 16_000];
/** A listing is some hundred KB. */
const WORDS_BYTES_MAX = 4_194_304;
/** Each has a thousand names. */
const PAGES_MAX = 10_000;

export interface BucketWorld {
  now(): number;
  pause(ms: number): Promise<unknown>;
}

const SYSTEM: BucketWorld = { now: Date.now, pause: sleep };

interface Wish {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** A longer answer is refused. */
  readonly bytesMax: number;
}

/** `writtenAt`: ms since 1970; null: the store does not say. */
export interface Listed {
  readonly bytes: number;
  readonly writtenAt: number | null;
}

/** Names are below the prefix. Each promise rejects with an error in words. */
export class Bucket {
  readonly #place: BucketPlace;
  readonly #keys: BucketKeys;
  readonly #world: BucketWorld;

  constructor(place: BucketPlace, keys: BucketKeys, world: BucketWorld = SYSTEM) {
    this.#place = place;
    this.#keys = keys;
    this.#world = world;
  }

  /** Written, read again, and the same. */
  async put(name: string, body: Buffer): Promise<void> {
    const key = this.#place.prefix + name;
    await this.#ask({ method: 'PUT', key, body, bytesMax: WORDS_BYTES_MAX });
    const back = await this.get(name, body.length);
    if (back?.equals(body) !== true) throw new Error(`${name} is not there as it was written`);
  }

  /** Null: there is none of that name. */
  get(name: string, bytesMax: number): Promise<Buffer | null> {
    return this.#ask({ method: 'GET', key: this.#place.prefix + name, bytesMax });
  }

  async remove(name: string): Promise<void> {
    const key = this.#place.prefix + name;
    await this.#ask({ method: 'DELETE', key, bytesMax: WORDS_BYTES_MAX });
  }

  /** Names that begin so. What they are is up to whoever wrote them: look at each before use. */
  async list(begin: string): Promise<Map<string, Listed>> {
    const found = new Map<string, Listed>();
    for await (const page of this.#pages({ prefix: this.#place.prefix + begin })) {
      for (const [, entry = ''] of page.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
        const name = this.#below(textIn(entry, 'Key'));
        const at = Date.parse(textIn(entry, 'LastModified') ?? '');
        const writtenAt = Number.isNaN(at) ? null : at;
        if (name !== null) found.set(name, { bytes: Number(textIn(entry, 'Size')), writtenAt });
      }
    }
    return found;
  }

  /** First parts of names, as of folders. */
  async folders(): Promise<string[]> {
    const found: string[] = [];
    for await (const page of this.#pages({ prefix: this.#place.prefix, delimiter: '/' })) {
      for (const [, entry = ''] of page.matchAll(/<CommonPrefixes>(.*?)<\/CommonPrefixes>/gs)) {
        const name = this.#below(textIn(entry, 'Prefix'));
        if (name !== null) found.push(name.replace(/\/$/, ''));
      }
    }
    return found;
  }

  #below(key: string | null): string | null {
    const { prefix } = this.#place;
    return key?.startsWith(prefix) === true ? key.slice(prefix.length) : null;
  }

  async *#pages(wanted: Readonly<Record<string, string>>): AsyncGenerator<string> {
    let token: string | null = null;
    for (let pages = 0; pages < PAGES_MAX; pages += 1) {
      const query: Record<string, string> = { 'list-type': '2', ...wanted };
      if (token !== null) query['continuation-token'] = token;
      const answer = await this.#ask({ method: 'GET', key: '', query, bytesMax: WORDS_BYTES_MAX });
      if (answer === null) throw new Error(`there is no bucket ${this.#place.bucket}`);
      const page = answer.toString('utf8');
      yield page;
      token = textIn(page, 'NextContinuationToken');
      if (token === null) return;
    }
    throw new Error('there are too many objects to list');
  }

  async #ask(wish: Wish): Promise<Buffer | null> {
    for (const pause of PAUSES_MS) {
      try {
        return await this.#askOnce(wish);
      } catch (error) {
        if (!(error instanceof Passing)) throw error;
        await this.#world.pause(pause);
      }
    }
    return await this.#askOnce(wish);
  }

  async #askOnce({ method, key, query = {}, body, bytesMax }: Wish): Promise<Buffer | null> {
    const { endpoint, session } = this.#keys;
    const url = urlOf(endpoint, `/${this.#place.bucket}${key === '' ? '' : `/${key}`}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const bodySha256 = createHash('sha256')
      .update(body ?? '')
      .digest('hex');
    const own: Record<string, string> = session === null ? {} : { 'x-amz-security-token': session };
    const headers = signed(
      { method, url, headers: own, bodySha256 },
      this.#keys,
      this.#world.now(),
    );
    const signal = AbortSignal.timeout(REQUEST_MS);
    const what = `${method} ${url.host}${url.pathname}`;
    try {
      const init: RequestInit = { method, headers, signal, redirect: 'manual' };
      if (body !== undefined) init.body = new Uint8Array(body);
      const answer = await fetch(url, init);
      const isGone = answer.status === 404 && method !== 'PUT';
      const bytes = await bytesOf(answer, answer.ok ? bytesMax : WORDS_BYTES_MAX);
      if (answer.ok) return bytes;
      const words = bytes.toString('utf8');
      if (isGone && textIn(words, 'Code') !== 'NoSuchBucket') return null;
      throw refusedBy(what, answer.status, words);
    } catch (error) {
      if (error instanceof TypeError || (error as Error).name === 'TimeoutError') {
        throw new Passing(`${what}: ${whyOf(error as Error)}`);
      }
      throw error;
    }
  }
}

/** Throws where the request would be for another object than the one that is meant. */
function urlOf(endpoint: string, path: string): URL {
  const url = new URL(endpoint + path);
  // Nothing that is asked for has to be escaped, and an escaped `/` would be one elsewhere.
  if (url.pathname === path && !/[%?#]/.test(path)) return url;
  throw new Error(`${JSON.stringify(path.slice(0, 300))} leads to another object`);
}

/** What may go well when it is tried again. */
class Passing extends Error {}

function refusedBy(what: string, status: number, words: string): Error {
  const code = textIn(words, 'Code') ?? '';
  const message = textIn(words, 'Message') ?? '';
  const said = [String(status), code, message].filter((one) => one !== '').join(' ');
  const plain = said.replaceAll(/[^\x20-\x7e]/g, ' ').slice(0, 300);
  const isPassing = status >= 500 || status === 429;
  return new (isPassing ? Passing : Error)(`${what}: ${plain}`);
}

const whyOf = ({ message, cause }: Error): string =>
  cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code) : message;

/** Reads an answer that may be of any length. */
async function bytesOf({ body }: Response, bytesMax: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body ?? []) {
    bytes += piece.length;
    if (bytes > bytesMax) throw new Error(`an answer has more than ${bytesMax} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
  '&amp;': '&',
};

/** Text in the first element of that name, which has nothing else in it. */
function textIn(xml: string, element: string): string | null {
  const [, text] = new RegExp(`<${element}>([^<]*)</${element}>`).exec(xml) ?? [];
  return text?.replaceAll(/&(?:lt|gt|quot|apos|amp);/g, (sign) => ENTITIES[sign] ?? sign) ?? null;
}
