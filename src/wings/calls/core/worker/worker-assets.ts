// Functions and shared values at a worker: kept by their hashes, within a bound, also when the
// router is another; asked for when a call needs them.

import { CALL_ASSET_BYTES_MAX } from '../../../../kernel/model/limits.ts';
import { Gathering } from '../incoming.ts';
import { copied } from '../kept.ts';
import type { Asset, AssetNumber } from '../messages.ts';
import type { OwnAsset } from './entries.ts';

export class WorkerAssets {
  /** The latest named last. */
  readonly #assets = new Map<string, OwnAsset>();
  #numbers = new Map<AssetNumber, OwnAsset>();
  #bytes = 0;

  /** A new line: its numbers are others, and what was on its way is asked for again. */
  newLine(): void {
    this.#numbers = new Map();
    for (const asset of this.#assets.values()) {
      asset.number = null;
      asset.isAsked = false;
    }
  }

  at(number: AssetNumber): OwnAsset | undefined {
    return this.#numbers.get(number);
  }

  tell({ asset: number, sha256, size, bytes }: Asset): OwnAsset {
    const asset = this.#assets.get(sha256) ?? {
      sha256,
      size,
      bytes: null,
      into: null,
      isAsked: false,
      number,
      users: 0,
    };
    asset.number = number;
    this.#assets.delete(sha256);
    this.#assets.set(sha256, asset);
    this.#numbers.set(number, asset);
    if (bytes !== null && asset.bytes === null) this.#keep(asset, copied(bytes));
    return asset;
  }

  /** Where the bytes are put together; null when they are here, or on their way. */
  wish(asset: OwnAsset) {
    if (asset.bytes !== null || asset.isAsked || asset.number === null) return null;
    asset.isAsked = true;
    asset.into ??= new Gathering(asset.size);
    return { number: asset.number, into: asset.into };
  }

  /** All bytes are here. */
  arrived(asset: OwnAsset): void {
    const { into } = asset;
    asset.into = null;
    asset.isAsked = false;
    if (into !== null) this.#keep(asset, into.bytes);
  }

  refused(asset: OwnAsset): void {
    asset.into = null;
    asset.isAsked = false;
  }

  forget(numbers: readonly AssetNumber[]): OwnAsset[] {
    const gone: OwnAsset[] = [];
    for (const number of numbers) {
      const asset = this.#numbers.get(number);
      this.#numbers.delete(number);
      if (asset === undefined || asset.users > 0) continue;
      this.#drop(asset);
      this.#assets.delete(asset.sha256);
      gone.push(asset);
    }
    return gone;
  }

  #keep(asset: OwnAsset, bytes: Uint8Array): void {
    asset.bytes = bytes;
    this.#bytes += bytes.length;
    for (const one of this.#assets.values()) {
      if (this.#bytes <= CALL_ASSET_BYTES_MAX) return;
      if (one !== asset && one.users === 0) this.#drop(one);
    }
  }

  #drop(asset: OwnAsset): void {
    if (asset.bytes !== null) this.#bytes -= asset.bytes.length;
    asset.bytes = null;
  }
}
