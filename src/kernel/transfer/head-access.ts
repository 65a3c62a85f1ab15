// The way to the head that contents take: whose it is, and how patient, is its maker's.

import type { CallOptions } from '../api/client.ts';
import type { Answer } from '../api/exchange.ts';
import type { RouteName } from '../api/paths.ts';
import type { ReplyOf } from '../api/routes.ts';

/** A client of the API whose failures are `Failure`s. */
export interface HeadApi {
  /** For messages. */
  readonly address: string;
  /** `timeoutMs`: 0 = none. */
  call<N extends RouteName>(
    route: N,
    options?: CallOptions<N> & { readonly timeoutMs?: number },
  ): Promise<ReplyOf<N>>;
  stream<N extends RouteName>(route: N, options?: CallOptions<N>): Promise<Answer>;
}

export interface HeadAccess {
  head(): Promise<HeadApi>;
  /** Runs it again while the head is away, as long as patience lasts; `note` is for people. */
  patiently<T>(note: string, attempt: () => Promise<T>): Promise<T>;
  /** Rests, for as long as whoever carries is still wanted. */
  pause(ms: number): Promise<void>;
}
