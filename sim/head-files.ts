// The files that a simulated head keeps: what jobs name, and what nodes have stored of their tasks.
// It is on its disk, and outlives the head's program.

import { findGarbage } from '../src/kernel/files/blobs/garbage.ts';
import type { Engine } from '../src/kernel/head/engine.ts';
import type { BlobHash } from '../src/kernel/model/blob.ts';
import type { EpochId, NodeName } from '../src/kernel/model/ids.ts';

/** What a node says of the files of an epoch, piece by piece. */
export type FileQuestion =
  | {
      readonly kind: 'want';
      readonly epochId: EpochId;
      readonly hash: BlobHash;
      readonly at: number;
    }
  | {
      readonly kind: 'put';
      readonly epochId: EpochId;
      readonly name: string;
      readonly text: string;
    }
  | { readonly kind: 'outputs'; readonly epochId: EpochId; readonly names: readonly string[] };

export type FileAnswer =
  | { readonly kind: 'piece'; readonly at: number; readonly text: string; readonly count: number }
  | { readonly kind: 'held'; readonly name: string }
  | { readonly kind: 'stored' }
  | { readonly kind: 'refused'; readonly why: string };

/** Nobody names it for so long: it goes. Short beside the real ones, as runs are. */
const IDLE_MS = 10_000;

export class HeadFiles {
  /** When each was last asked for, and of how many pieces it is. */
  readonly blobs = new Map<BlobHash, { readonly count: number; touchedAt: number }>();
  /** By epoch and node: what was stored for good. */
  readonly parts = new Map<string, ReadonlyMap<string, string>>();
  /** What has come of what is not yet stored; in memory only. */
  #coming = new Map<string, Map<string, string>>();

  send(hash: BlobHash, now: number): void {
    this.blobs.set(hash, { count: piecesOf(hash), touchedAt: now });
  }

  /** The program has ended. */
  crash(): void {
    this.#coming = new Map();
  }

  /** What a head names: its live jobs and those that it still shows. A canary forgets some. */
  isNamed(engine: Engine, hash: BlobHash): boolean {
    return [...engine.state.jobs.values()].some(({ spec }) => spec.staging?.inputs === hash);
  }

  sweep(engine: Engine, now: number): void {
    const blobs = [...this.blobs].map(([hash, { touchedAt }]) => ({ hash, size: 1, touchedAt }));
    const keeping = {
      isNamed: (hash: BlobHash) => this.isNamed(engine, hash),
      isUploading: () => false,
    };
    const rule = { now, idleMs: IDLE_MS, idlePressedMs: IDLE_MS, bytesToFree: 0 };
    for (const { hash } of findGarbage(blobs, keeping, rule)) this.blobs.delete(hash);
  }

  /** Only for a task that the node runs right now. */
  answer(engine: Engine, node: NodeName, question: FileQuestion, now: number): FileAnswer {
    const { epochId } = question;
    const task = engine.state.nodes.get(node)?.holding.get(epochId)?.task ?? null;
    const part = task?.parts.get(node);
    if (task === null || part === undefined || part.state === 'ended') {
      return { kind: 'refused', why: `${node} does not run ${epochId}` };
    }
    if (question.kind === 'want') return this.#piece(question, now);
    const key = partKey(epochId, node);
    if (question.kind === 'put') {
      const coming = this.#coming.get(key) ?? new Map<string, string>();
      this.#coming.set(key, coming.set(question.name, question.text));
      return { kind: 'held', name: question.name };
    }
    const coming = this.#coming.get(key) ?? new Map<string, string>();
    const lacking = question.names.find((name) => !coming.has(name) && !this.parts.has(key));
    if (lacking !== undefined) return { kind: 'refused', why: LACKING };
    if (!this.parts.has(key)) this.parts.set(key, coming);
    return { kind: 'stored' };
  }

  /** A task that will be run again: what this start of it left is nobody's result. */
  forget(epochId: EpochId): void {
    for (const key of this.parts.keys()) if (key.startsWith(`${epochId} `)) this.parts.delete(key);
  }

  #piece({ hash, at }: FileQuestion & { kind: 'want' }, now: number): FileAnswer {
    const blob = this.blobs.get(hash);
    if (blob === undefined) return { kind: 'refused', why: NO_SUCH_FILE };
    blob.touchedAt = now;
    return { kind: 'piece', at, text: pieceOf(hash, at), count: blob.count };
  }
}

export const NO_SUCH_FILE = 'there is no such file';
/** What was sent to a head that was killed has to be sent again. */
export const LACKING = 'files are lacking';

export function partKey(epochId: string, node: string): string {
  return `${epochId} ${node}`;
}

/** Files of a job, as the hash of their list says. */
export function piecesOf(hash: BlobHash): number {
  return 1 + (Number.parseInt(hash.slice(0, 8), 16) % 4);
}

export function pieceOf(hash: BlobHash, at: number): string {
  return `${hash} ${at}`;
}

/** The file in the directory of its task. */
export function inputName(at: number): string {
  return `input.${at}`;
}
