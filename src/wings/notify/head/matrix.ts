// Notifications by Matrix (client-server API v1.1 and later): to a user in a direct room of the
// cluster's own, or to a room that has invited the cluster's user.

import { createHash } from 'node:crypto';
import type { Attempt } from '../../../kernel/model/notification.ts';
import { failureWords, type HttpAnswer, type HttpCall, httpCall } from './http-call.ts';
import type { Message } from './message.ts';
import { readSecret } from './secret.ts';

export interface MatrixOptions {
  readonly homeserver: string;
  readonly tokenFile: string;
}

/** What the homeserver said that was not a yes. */
class Refused extends Error {
  readonly status: number;
  readonly afterMs: number | undefined;
  constructor({ status, text, retryAfterMs }: HttpAnswer) {
    const { errcode = '', error = '', retry_after_ms: afterMs } = readObject(text);
    super(`the homeserver answered ${status} ${errcode} ${error}`.trimEnd());
    this.status = status;
    this.afterMs = retryAfterMs ?? (typeof afterMs === 'number' ? afterMs : undefined);
  }
}

type Json = Readonly<Record<string, unknown>>;

export class Matrix {
  readonly #options: MatrixOptions & { readonly timeoutMs: number };
  /** Rooms by whom they reach. */
  readonly #rooms = new Map<string, string>();
  /** The last search for a room: two at once would each make one, and forget the other's. */
  #finding: Promise<unknown> = Promise.resolve();

  constructor(options: MatrixOptions & { readonly timeoutMs: number }) {
    this.#options = options;
  }

  async tell(to: string, { id, text }: Message): Promise<Attempt> {
    try {
      const room = this.#rooms.get(to) ?? (await this.#inTurn(() => this.#findRoom(to)));
      this.#rooms.set(to, room);
      // The homeserver sends one transaction once, however often it is asked.
      const transaction = createHash('sha256').update(`${to} ${id}`).digest('hex').slice(0, 40);
      const path = `/rooms/${encodeURIComponent(room)}/send/m.room.message/${transaction}`;
      await this.#ask('PUT', path, { msgtype: 'm.text', body: text });
      return { kind: 'told' };
    } catch (error) {
      // The room may be gone, or have put us out: the next attempt looks for one anew.
      this.#rooms.delete(to);
      if (!(error instanceof Refused) || error.afterMs === undefined) throw error;
      return { kind: 'failed', why: failureWords(error), afterMs: error.afterMs };
    }
  }

  #inTurn(find: () => Promise<string>): Promise<string> {
    const found = this.#finding.then(find, find);
    this.#finding = found;
    return found;
  }

  async #findRoom(to: string): Promise<string> {
    if (to.startsWith('@')) return this.#directRoom(to);
    const { room_id: room } = await this.#ask('POST', `/join/${encodeURIComponent(to)}`, {});
    return textOf(room, 'the id of the room');
  }

  /** The one that account data name, where the user still is; else a new one. */
  async #directRoom(user: string): Promise<string> {
    const { user_id: me } = await this.#ask('GET', '/account/whoami');
    const own = encodeURIComponent(textOf(me, 'its own name'));
    const data = `/user/${own}/account_data/m.direct`;
    const direct = (await this.#askMaybe(data)) ?? {};
    const known = direct[user];
    const rooms = Array.isArray(known) ? known.filter((one) => typeof one === 'string') : [];
    for (const room of rooms.reverse()) if (await this.#isIn(room, user)) return room;
    const { room_id: room } = await this.#ask('POST', '/createRoom', {
      preset: 'trusted_private_chat',
      is_direct: true,
      invite: [user],
    });
    const made = textOf(room, 'the id of the room');
    await this.#ask('PUT', data, { ...direct, [user]: [...rooms.reverse(), made] });
    return made;
  }

  async #isIn(room: string, user: string): Promise<boolean> {
    const place = `/rooms/${encodeURIComponent(room)}/state/m.room.member`;
    const member = await this.#askMaybe(`${place}/${encodeURIComponent(user)}`);
    return member?.['membership'] === 'join' || member?.['membership'] === 'invite';
  }

  /** Undefined when there is no such thing, or it is closed to us. */
  async #askMaybe(path: string): Promise<Json | undefined> {
    try {
      return await this.#ask('GET', path);
    } catch (error) {
      if (error instanceof Refused && (error.status === 404 || error.status === 403)) {
        return undefined;
      }
      throw error;
    }
  }

  async #ask(method: HttpCall['method'], path: string, body?: Json): Promise<Json> {
    const { homeserver, tokenFile, timeoutMs } = this.#options;
    const authorization = `Bearer ${await readSecret(tokenFile)}`;
    const answer = await httpCall({
      method,
      timeoutMs,
      url: new URL(`${homeserver}/_matrix/client/v3${path}`),
      headers: { authorization, 'content-type': 'application/json', 'user-agent': 'weft' },
      body: body === undefined ? null : JSON.stringify(body),
    });
    if (answer.status !== 200) throw new Refused(answer);
    return readObject(answer.text);
  }
}

/** Empty when it is no JSON object: what misses then is told by name. */
function readObject(text: string): Json {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Json) : {};
  } catch {
    return {};
  }
}

function textOf(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  throw new Error(`the homeserver did not say ${what}`);
}
