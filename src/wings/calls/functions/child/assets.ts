// The code and the shared values that a child holds: read when a call first needs them.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadPackages } from '../serialization/load-packages.ts';
import { moduleUrl, readModule } from '../serialization/module.ts';
import { MODULE, SETUP } from '../serialization/packed-value.ts';
import { releaseWhole, unpackShared } from '../serialization/values.ts';
import type { Variables } from '../serialization/variables.ts';

export type Callable = (...args: unknown[]) => unknown;

interface Asset {
  readonly sha256: string;
  readonly bytes: Uint8Array;
  /** Functions; a promise while their module is imported. */
  fn?: Callable | Promise<Callable> | undefined;
  /** The value is made anew for each call. */
  isForOneCall?: boolean;
  /** Makes it from what a call brings; null: calls bring nothing. */
  made?: ((variables: Variables) => Callable) | null;
  value?: { readonly it: unknown };
  /** Null once it has run. */
  setup?: Promise<void> | null;
}

/** Bytes that are no code or no value. */
export class BrokenAsset extends Error {
  override readonly name = 'BrokenAsset';
}

export class Assets {
  readonly #byNumber = new Map<number, Asset>();
  readonly #byHash = new Map<string, Asset>();
  readonly #scratch: string;
  readonly #onSetup: () => void;

  /** `scratch`: where bundles are written, to be imported. `onSetup`: one has run. */
  constructor(scratch: string, onSetup: () => void) {
    this.#scratch = scratch;
    this.#onSetup = onSetup;
  }

  keep(number: number, sha256: string, bytes: Uint8Array): void {
    const asset = this.#byHash.get(sha256) ?? { sha256, bytes };
    this.#byNumber.set(number, asset);
    this.#byHash.set(sha256, asset);
  }

  forget(number: number): void {
    const asset = this.#byNumber.get(number);
    this.#byNumber.delete(number);
    if (asset !== undefined && ![...this.#byNumber.values()].includes(asset))
      this.#byHash.delete(asset.sha256);
  }

  /**
   * For one call. One that assigns variables is made anew, with all that it captured: objects that
   * stayed would not fit variables that did not. `variables`: what the call brings. Throws
   * BrokenAsset; a promise rejects with what the import of its module threw.
   */
  functionOf(number: number, variables: Variables | null): Callable | Promise<Callable> {
    const asset = this.#asset(number);
    if (asset.fn === undefined || asset.isForOneCall === true)
      asset.fn = this.#load(asset, asset.bytes);
    const { fn } = asset;
    if (typeof fn === 'function') return forCall(asset, fn, variables);
    // What was missing may be there when the next call comes; this one hears of it.
    const forget = (): void => {
      if (asset.fn === fn) asset.fn = undefined;
    };
    fn.catch(forget);
    return fn.then((loaded) => forCall(asset, loaded, variables));
  }

  /** Imports what a call's shared values have of packages; null: there is nothing to wait for. */
  loadShared(numbers: readonly number[]): Promise<unknown> | null {
    const loading = numbers
      .map((number) => this.#asset(number))
      .map(({ value, bytes }) => (value === undefined ? loadPackages(bytes) : null))
      .filter((one) => one !== null);
    return loading.length === 0 ? null : Promise.all(loading);
  }

  /** Runs those of a call's shared assets that are set-up functions and have not run yet. */
  setUp(numbers: readonly number[]): Promise<void>[] {
    return numbers.flatMap((number) => {
      const asset = this.#asset(number);
      if (asset.bytes[0] !== SETUP) return [];
      if (asset.setup === undefined) asset.setup = this.#runSetup(asset);
      return asset.setup ?? [];
    });
  }

  readonly sharedValue = (sha256: string): unknown => {
    const asset = this.#byHash.get(sha256);
    if (asset === undefined)
      throw new BrokenAsset(`a shared value (${sha256.slice(0, 8)}) is missing`);
    asset.value ??= { it: broken(() => unpackShared(asset.bytes)) };
    return asset.value.it;
  };

  #asset(number: number): Asset {
    const asset = this.#byNumber.get(number);
    if (asset === undefined) throw new BrokenAsset(`asset ${number} is missing`);
    return asset;
  }

  #load(asset: Asset, bytes: Uint8Array): Callable | Promise<Callable> {
    if (bytes[0] === MODULE) return this.#import(asset, bytes);
    const release = (): Callable => {
      const { fn, isForOneCall, made } = broken(() => releaseWhole(bytes, this.sharedValue));
      asset.isForOneCall = isForOneCall;
      asset.made = made;
      return fn;
    };
    const loading = loadPackages(bytes);
    return loading === null ? release() : this.#releaseAfter(asset, loading, release);
  }

  async #releaseAfter(
    asset: Asset,
    loading: Promise<void>,
    release: () => Callable,
  ): Promise<Callable> {
    await loading;
    const fn = release();
    asset.fn = fn;
    return fn;
  }

  async #runSetup(asset: Asset): Promise<void> {
    const fn = await this.#load(asset, asset.bytes.subarray(1));
    await fn();
    this.#onSetup();
    asset.setup = null;
  }

  async #import(asset: Asset, bytes: Uint8Array): Promise<Callable> {
    const sent = broken(() => readModule(bytes));
    let file: string | null = null;
    if (sent.bundle !== undefined) {
      file = join(this.#scratch, `${asset.sha256.slice(0, 16)}.mjs`);
      writeFileSync(file, sent.bundle);
    }
    const exports = (await import(moduleUrl(sent, file))) as Record<string, unknown>;
    const fn = exports[sent.name];
    if (typeof fn === 'function') return fn as Callable;
    const names = Object.keys(exports).filter((name) => typeof exports[name] === 'function');
    const has = names.length === 0 ? 'no functions' : names.join(', ');
    throw new TypeError(`${sent.file} exports no function \`${sent.name}\`; it exports ${has}`);
  }
}

/** Function and call must agree on whether the call brings values: none would be undefined. */
function forCall({ made }: Asset, fn: Callable, variables: Variables | null): Callable {
  if (made === undefined || made === null) {
    if (variables === null) return fn;
    throw new BrokenAsset('the call brings values that its function has no place for');
  }
  if (variables === null) throw new BrokenAsset('the call brings no values for its function');
  return broken(() => made(variables));
}

function broken<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw error instanceof BrokenAsset
      ? error
      : new BrokenAsset(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
