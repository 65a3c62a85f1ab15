// The typed client of the page: one call per route of src/api, with the types of its schemas.
// Failures are thrown in words, with the way out.

import type { Failure } from '../../api/failure.ts';
import { noteHeadDate } from '../../api/head-time.ts';
import { fillPath, methodAndPath, type RouteName } from '../../api/paths.ts';
import type { Body, ReplyOf } from '../../api/routes.ts';
import { ANSWER_MS, Patience, SILENCE_MS, watched } from '../pure/patience.ts';
import { spanWords } from '../pure/words.ts';
import { eitherOf } from './either.ts';
import { forgetMe, pageKey } from './session.ts';

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface CallOptions<N extends RouteName> {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Query;
  readonly body?: Body<N>;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The head refused, or did not answer (`kind` is `unavailable` then). */
export class HeadError extends Error {
  readonly code: string;
  readonly kind: string;
  readonly hint: string | null;

  constructor({ code, kind, message, hint }: Pick<Failure, 'code' | 'kind' | 'message' | 'hint'>) {
    super(message);
    this.code = code;
    this.kind = kind;
    this.hint = hint;
  }
}

/** The JSON of a successful answer; throws `HeadError`. */
export async function call<N extends RouteName>(
  route: N,
  options: CallOptions<N> = {},
): Promise<ReplyOf<N>> {
  const response = await send(route, options);
  return (await whole(response.json(), againWords(route))) as ReplyOf<N>;
}

/** Asks without changing anything, though its method is POST. */
const ONLY_ASKS: ReadonlySet<RouteName> = new Set(['rehearseJob', 'loginPage', 'logoutPage']);

/** What to do after an answer that was lost. */
function againWords(route: RouteName): string {
  return methodAndPath(route).method === 'GET' || ONLY_ASKS.has(route)
    ? 'Try again.'
    : 'It may have been done all the same: look before you do it again.';
}

/** The same, for where the page does ask again until there is an answer. */
export function asRetried(error: HeadError): HeadError {
  const { code, kind, message } = error;
  if (kind !== 'unavailable') return error;
  return new HeadError({ code, kind, message, hint: 'The page tries again by itself.' });
}

/** What the body of an answer has; throws `HeadError` when the connection ends before its end. */
export async function whole<T>(body: Promise<T>, hint = 'Try again.'): Promise<T> {
  try {
    return await body;
  } catch (cause) {
    if (isAbort(cause) || cause instanceof HeadError) throw cause;
    throw new HeadError({
      code: 'page.broke_off',
      kind: 'unavailable',
      message: 'The answer of the head broke off.',
      hint,
    });
  }
}

/** True when the caller has aborted the request. */
function isAbort(cause: unknown): boolean {
  return cause instanceof Error && cause.name === 'AbortError';
}

/** For answers that are no JSON. Throws `HeadError`. */
export async function send<N extends RouteName>(
  route: N,
  { params = {}, query = {}, body, signal, headers: given }: CallOptions<N> = {},
): Promise<Response> {
  const { method, path } = methodAndPath(route);
  const headers: Record<string, string> = { ...given };
  const key = pageKey();
  if (key !== null) headers['weft-page'] = key;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  const url = fillPath(path, params) + formatQuery(query);
  const hint = againWords(route);
  const limitMs = route === 'events' ? SILENCE_MS : ANSWER_MS;
  const patience = new Patience(limitMs, () => silent(limitMs, hint));
  const either = signal === undefined ? patience.signal : eitherOf(patience.signal, signal);
  const asked = reach(url, { method, headers, ...text, signal: either }, hint);
  const response = await patience.while(asked);
  // What is followed may be quiet for as long as nothing happens.
  const isFollowed = route === 'events' || query['follow'] === true;
  const answer = isFollowed ? response : watched(response, patience);
  if (answer.ok) return answer;
  const error = await errorOf(answer, hint);
  if (error.kind === 'unauthenticated' && route !== 'loginPage') forgetMe('refused');
  throw error;
}

async function reach(url: string, init: RequestInit, hint: string): Promise<Response> {
  try {
    const response = await fetch(url, { ...init, credentials: 'same-origin', cache: 'no-store' });
    noteHeadDate(response.headers.get('date'), Date.now());
    return response;
  } catch (cause) {
    if (init.signal?.aborted) throw cause;
    throw new HeadError({
      code: 'head.unreachable',
      kind: 'unavailable',
      message: 'The head does not answer.',
      hint: `Jobs go on meanwhile. ${hint}`,
    });
  }
}

/** The error of a head that holds the connection, and sends nothing. */
function silent(limitMs: number, hint: string): HeadError {
  return new HeadError({
    code: 'head.silent',
    kind: 'unavailable',
    message: `The head has said nothing for ${spanWords(limitMs)}: it hangs, or the line is dead.`,
    hint: `Jobs go on meanwhile. ${hint}`,
  });
}

async function errorOf(response: Response, hint: string): Promise<HeadError> {
  const text = await whole(response.text(), hint);
  try {
    return new HeadError((JSON.parse(text) as { error: Failure }).error);
  } catch {
    const message = `The head answered ${response.status}.`;
    return new HeadError({ code: 'answer.unreadable', kind: 'internal', message, hint: null });
  }
}

function formatQuery(query: Query): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') pairs.set(name, String(value));
  }
  return pairs.size === 0 ? '' : `?${pairs}`;
}
