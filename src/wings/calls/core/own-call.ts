// A call as its client has it, and how it ended.

import type { Gathering } from './incoming.ts';
import type { AssetNumber, Bytes, CallNumber, SettledWhy } from './messages.ts';

/** How a call ended, with all its bytes. */
export type CallEnd =
  | {
      readonly kind: 'result';
      readonly ok: boolean;
      readonly attempt: number;
      readonly bytes: Bytes;
    }
  | {
      readonly kind: 'settled';
      readonly why: SettledWhy;
      readonly detail: string;
      readonly worker: string | null;
    };

export interface NewCall {
  readonly asset: AssetNumber;
  readonly shared: readonly AssetNumber[];
  readonly retriesMax: number;
  readonly timeoutMs: number;
  readonly payload: Bytes;
}

/** A class, and no spread literal: a million of them are made in a row. */
export class OwnCall implements NewCall {
  readonly number: CallNumber;
  readonly asset: AssetNumber;
  readonly shared: readonly AssetNumber[];
  readonly retriesMax: number;
  readonly timeoutMs: number;
  readonly payload: Bytes;
  /** The life of the router in which it was first sent; null before. */
  generation: string | null = null;
  since = 0;
  attempt = 0;
  isCancelled = false;
  /** The bytes of its payload may wait to be written there, also when the call has ended. */
  isOnLine = false;
  /** A large result that is on its way. */
  result: { readonly ok: boolean; readonly attempt: number; readonly into: Gathering } | null =
    null;

  constructor(number: CallNumber, call: NewCall) {
    this.number = number;
    this.asset = call.asset;
    this.shared = call.shared;
    this.retriesMax = call.retriesMax;
    this.timeoutMs = call.timeoutMs;
    this.payload = call.payload;
  }
}
