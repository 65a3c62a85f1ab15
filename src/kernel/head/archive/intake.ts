// Taking in what a node stores of a task that it runs: refused unless its contents are held and the
// node is at it, and on the disk before the node hears that it may go.

import { err, ok, type Result } from '../../base/result.ts';
import { formatSize } from '../../base/size.ts';
import { amountsOf, type Outputs } from '../../files/job-manifest.ts';
import type { Job } from '../../machine/jobs/facts.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import { isFull } from '../disk/disk-errors.ts';
import type { Engine } from '../engine.ts';
import { type EpochCaller, epochCaller } from '../epoch-caller.ts';
import type { Shelf } from './archive-places.ts';
import type { ArchiveOptions } from './options.ts';
import type { Parts, StoredPart } from './parts.ts';
import { NO_BATCHES } from './shelving.ts';
import type { StoredParts } from './stored-parts.ts';

/** Contents looked at in one turn: a millisecond or two. */
const LOOKS_PER_TURN = 100;
/** Files named in a refusal. */
const SHOWN_MAX = 3;

export interface PartAmounts {
  readonly files: number;
  readonly bytes: number;
  readonly leftOut: number;
}

type IntakeOptions = Pick<ArchiveOptions, 'blobs' | 'bytesMax' | 'clock' | 'shelving'>;

export class Intake {
  readonly #options: IntakeOptions;
  readonly #parts: Parts;
  readonly #stored: StoredParts;
  #engine: Pick<Engine, 'state'> | null = null;

  constructor(
    options: IntakeOptions,
    { parts, stored }: { readonly parts: Parts; readonly stored: StoredParts },
  ) {
    this.#options = options;
    this.#parts = parts;
    this.#stored = stored;
  }

  attach(engine: Pick<Engine, 'state'>): void {
    this.#engine = engine;
  }

  /** Resolves once the part is on the disk. Storing the same part again does no harm. */
  async store(caller: EpochCaller, outputs: Outputs): Promise<Result<PartAmounts, Refusal>> {
    const amounts = { ...amountsOf(outputs.entries), leftOut: outputs.leftOut.length };
    const { bytesMax } = this.#options;
    if (amounts.bytes > bytesMax) {
      const details = { size: formatSize(amounts.bytes), limit: formatSize(bytesMax) };
      return err(refuse('outputs.too_large', details, 'Name what is wanted with --out.'));
    }
    const held = await this.#checkHeld(caller.owner, outputs);
    if (held !== null) return err(held);
    const part = this.#partOf(caller, outputs);
    if (part === null) return err(notRunning(caller));
    this.#stored.name(part);
    const full = await this.#write(part);
    if (full !== null) return err(full);
    // The task may have been given to others meanwhile: then nobody would ever finish this part.
    const now = this.#caller(caller);
    if (now.ok) {
      this.#stored.note(part);
      return ok(amounts);
    }
    if (!this.#stored.isNoted(part)) this.#stored.drop([part]);
    return now;
  }

  async #write(part: StoredPart): Promise<Refusal | null> {
    try {
      await this.#parts.write(part);
      return null;
    } catch (error) {
      this.#stored.unname(part);
      if (!isFull(error)) throw error;
      return refuse('blob.disk_full', { cause: (error as Error).message });
    }
  }

  async #checkHeld(owner: string, { entries }: Outputs): Promise<Refusal | null> {
    const { blobs } = this.#options;
    const missing: string[] = [];
    for (const [at, { path: name, sha256, size }] of entries.entries()) {
      if (at % LOOKS_PER_TURN === LOOKS_PER_TURN - 1) await new Promise(setImmediate);
      if (sha256 === undefined) continue;
      const isTheirs = blobs.mayRead({ user: owner, by: null }, sha256);
      const actual = isTheirs ? blobs.sizeOf(sha256) : null;
      if (actual === null) missing.push(JSON.stringify(name));
      else if (actual !== size) {
        const what = `${JSON.stringify(name)} has ${size} bytes, its content ${actual}`;
        return refuse('argument.invalid', { what });
      }
    }
    if (missing.length === 0) return null;
    const shown = missing.slice(0, SHOWN_MAX).join(', ');
    const files = missing.length > SHOWN_MAX ? `${shown}, …` : shown;
    return refuse('files.lacking', { count: String(missing.length), files }, 'Send them first.');
  }

  #caller({ node, epochId }: EpochCaller): Result<EpochCaller, Refusal> {
    if (this.#engine === null) return err(refuse('head.starting', {}));
    return epochCaller(this.#engine.state, node, epochId);
  }

  #partOf(caller: EpochCaller, outputs: Outputs): StoredPart | null {
    const { jobId, index, epochId, epoch, node, nodeRank, owner } = caller;
    const job = this.#engine?.state.jobs.get(jobId);
    if (job === undefined) return null;
    const { name } = job.spec;
    return {
      version: 1,
      epochId,
      shelf: this.#shelfOf(job, index),
      epoch,
      node,
      nodeRank,
      owner,
      jobName: name,
      storedAt: this.#options.clock.now(),
      ...outputs,
    };
  }

  #shelfOf(job: Job, index: number): Shelf {
    const shelf = { jobId: job.id, index, isArray: job.spec.array !== null };
    const { shelving = NO_BATCHES } = this.#options;
    const batch = shelf.isArray ? shelving.batchShelf(job, index) : null;
    return batch === null ? shelf : { ...shelf, batch };
  }
}

function notRunning({ node, epochId }: EpochCaller): Refusal {
  return refuse('epoch.not_running', { node, epoch: epochId });
}
