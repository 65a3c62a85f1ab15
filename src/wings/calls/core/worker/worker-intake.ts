// Calls as they come to a worker: each with its function, shared values and arguments, which are
// asked for as far as they are not here.

import { CALL_DEPTH_MAX } from '../../../../kernel/model/limits.ts';
import { Gathering, type TakeNear } from '../incoming.ts';
import { kept } from '../kept.ts';
import type { Asset, Bytes, InnerCall, WorkerCall } from '../messages.ts';
import type { NearBytes } from '../near.ts';
import type { Children } from './children.ts';
import type { CallEntry, OwnAsset } from './entries.ts';
import type { ResultStore } from './result-store.ts';
import type { WorkerAssets } from './worker-assets.ts';
import type { LineOwner, WorkerLine } from './worker-line.ts';
import type { WorkerVoice } from './worker-voice.ts';

/** Where calls go, and what they need. */
export interface IntakeWorld {
  readonly shelf: ResultStore;
  readonly children: Children;
  readonly now: () => number;
  readonly assets: WorkerAssets;
  readonly voice: WorkerVoice;
  readonly sha256: (bytes: Bytes) => string;
  /** Null: large values go over the line. */
  readonly near: NearBytes | null;
  readonly takeNear: TakeNear;
  /** Called for a call that cannot be run: something of it never comes. */
  readonly refused: (entry: CallEntry, detail: string) => void;
}

export class WorkerIntake implements LineOwner {
  readonly #world: IntakeWorld;
  #nextRun = 1;

  constructor(world: IntakeWorld) {
    this.#world = world;
  }

  get near(): NearBytes | null {
    return this.#world.near;
  }

  get takeNear(): TakeNear {
    return this.#world.takeNear;
  }

  take(line: WorkerLine, message: WorkerCall | InnerCall): void {
    const { assets, shelf, children, now } = this.#world;
    const session = line.sessions.get(message.session);
    const asset = assets.at(message.asset);
    if (session === undefined || asset === undefined) return;
    const shared = message.shared.map((number) => assets.at(number));
    const depth = message.kind === 'inner' ? Math.min(message.depth, CALL_DEPTH_MAX) : 0;
    const entry: CallEntry = {
      depth,
      run: this.#nextRun,
      session,
      call: message.call,
      attempt: message.attempt,
      asset,
      shared: shared.filter((one) => one !== undefined),
      timeoutMs: message.timeoutMs,
      payload: null,
      into: null,
      state: 'queued',
      verdict: null,
      isRecalled: false,
      isDropped: false,
      startedAt: 0,
      isStartTold: false,
      killAt: Number.POSITIVE_INFINITY,
      end: null,
      result: null,
    };
    this.#nextRun += 1;
    shelf.add(entry);
    for (const one of [asset, ...entry.shared]) one.users += 1;
    children.of(entry).add(entry, now());
    const { payload } = message;
    if ('inline' in payload) entry.payload = kept(payload.inline);
    else entry.into = new Gathering(payload.size);
    if (entry.payload === null) line.wantPayload(entry);
    this.#wantAsset(line, asset);
    for (const one of entry.shared) this.#wantAsset(line, one);
  }

  takeAsset(message: Asset): void {
    const { assets, voice } = this.#world;
    const asset = assets.tell(message);
    // Calls that came over an older line may wait for it.
    if (asset.users > 0 && voice.line !== null) this.#wantAsset(voice.line, asset);
  }

  #wantAsset(line: WorkerLine, asset: OwnAsset): void {
    const wish = this.#world.assets.wish(asset);
    if (wish !== null) line.wantAsset(asset, wish);
  }

  arrived(whole: CallEntry | OwnAsset): void {
    if ('run' in whole) {
      whole.payload = whole.into?.passed ?? whole.into?.bytes ?? null;
      whole.into = null;
      return;
    }
    const { into, sha256 } = whole;
    if (into !== null && this.#world.sha256(into.bytes) !== sha256) {
      return this.#refuse(whole, 'The bytes of its function or of a shared value are damaged.');
    }
    this.#world.assets.arrived(whole);
  }

  missed(key: CallEntry | OwnAsset): void {
    this.#refuse(key, 'Its bytes cannot be had any more.');
  }

  /** What never comes is not waited for. */
  #refuse(key: CallEntry | OwnAsset, detail: string): void {
    if ('run' in key) return this.#refuseEntry(key, detail);
    const { assets, shelf } = this.#world;
    assets.refused(key);
    for (const { calls } of shelf.sessions) {
      for (const entry of calls.values()) {
        const isUser = entry.asset === key || entry.shared.includes(key);
        if (isUser) this.#refuseEntry(entry, detail);
      }
    }
  }

  #refuseEntry(entry: CallEntry, detail: string): void {
    const { children, refused } = this.#world;
    if (children.of(entry).withdraw(entry)) refused(entry, detail);
  }
}
