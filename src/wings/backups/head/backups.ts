// Backups of a head that runs: one at a time, when an operator asks and when one is due.

import { err, ok, type Result } from '../../../kernel/base/result.ts';
import { type Refusal, refuse } from '../../../kernel/model/errors.ts';
import type { Clock } from '../../../kernel/ports/clock.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import type { BackupHeader } from '../api/backup-header.ts';
import type { BackupsReply, BackupView } from '../api/backups.ts';
import { nameOf } from '../core/backup-name.ts';
import { dueAt } from '../core/retention.ts';

/** After a failure no sooner than this, or than the time between two backups where that is less. */
const RETRY_MS = 600_000;

export interface MadeBackup {
  readonly name: string;
  readonly folder: string;
  readonly header: BackupHeader;
  /** Why older ones that should be gone are left; null: they are gone. */
  readonly left: string | null;
}

/** What makes and reads backups; each promise rejects with an error in words. */
export interface BackupMaker {
  make(
    order: { readonly to: string; readonly keep: number; readonly at: number },
    tell: (progress: { readonly entries: number; readonly bytes: number }) => void,
  ): Promise<MadeBackup>;
  /** The oldest first. */
  list(folder: string, whose: 'own' | 'all'): Promise<readonly MadeBackup[]>;
}

export interface BackupPlan {
  readonly to: string | null;
  readonly everyMs: number;
  readonly keep: number;
}

export class Backups {
  readonly #maker: BackupMaker;
  readonly #world: { readonly clock: Clock; readonly log: Log };
  #plan: BackupPlan;
  #running: BackupsReply['running'] = null;
  /** In the folder of the plan. */
  #last: MadeBackup | null = null;
  #failure: BackupsReply['failure'] = null;
  /** How the last attempt ended, in whichever folder. */
  #recent: BackupsReply['recent'] = null;
  /** The plan's folder, once what lies there has been looked at. */
  #lookedIn: string | null = null;
  /** When the last attempt in the plan's folder was begun, by the clock that nobody sets. */
  #triedAt: number | null = null;

  constructor(maker: BackupMaker, plan: BackupPlan, world: { clock: Clock; log: Log }) {
    this.#maker = maker;
    this.#plan = plan;
    this.#world = world;
  }

  /** From the next look on. */
  change(plan: BackupPlan): void {
    if (plan.to !== this.#plan.to) {
      this.#lookedIn = null;
      this.#last = null;
      this.#failure = null;
      this.#triedAt = null;
    }
    this.#plan = plan;
  }

  /** With each look at the timers. */
  tick(): void {
    const { to } = this.#plan;
    if (to === null || this.#running !== null) return;
    if (this.#lookedIn !== to) return this.#lookAt(to);
    const now = this.#world.clock.now();
    const due = this.#nextAt(now);
    if (due !== null && due <= now) this.#begin(to);
  }

  /** `to`: an absolute path; undefined: where the configuration has them. */
  start(to: string | undefined): Result<{ name: string; folder: string }, Refusal> {
    const folder = to ?? this.#plan.to;
    if (folder === null) return err(refuse('backup.nowhere', {}));
    if (this.#running !== null) return err(refuse('backup.busy', { name: this.#running.name }));
    return ok({ name: this.#begin(folder), folder });
  }

  /** The folder, and the whole backups in it; none where no folder is known. */
  async list(
    of: string | undefined,
  ): Promise<Result<{ folder: string | null; backups: BackupView[] }, Refusal>> {
    const folder = of ?? this.#plan.to;
    if (folder === null) return ok({ folder, backups: [] });
    try {
      const found = await this.#maker.list(folder, 'all');
      return ok({ folder, backups: found.map(viewOf) });
    } catch (error) {
      return err(refuse('argument.invalid', { what: `${folder}: ${(error as Error).message}` }));
    }
  }

  view(): BackupsReply {
    const { to, everyMs, keep } = this.#plan;
    return {
      to,
      everyMs: to === null ? null : everyMs,
      keep,
      nextAt: to === null ? null : this.#nextAt(this.#world.clock.now()),
      running: this.#running,
      last: this.#last === null ? null : viewOf(this.#last),
      failure: this.#failure,
      recent: this.#recent,
    };
  }

  #nextAt(now: number): number | null {
    const { everyMs } = this.#plan;
    const last = this.#last?.header.madeAt ?? null;
    const passedMs = this.#triedAt === null ? null : this.#world.clock.monotonic() - this.#triedAt;
    const due = dueAt({ everyMs, last, passedMs }, now);
    if (due === null || this.#failure === null) return due;
    return Math.max(due, Math.min(this.#failure.at, now) + Math.min(everyMs, RETRY_MS));
  }

  /** What an earlier head has made there counts as made. */
  #lookAt(folder: string): void {
    this.#lookedIn = folder;
    this.#maker.list(folder, 'own').then(
      (found) => {
        if (this.#plan.to === folder) this.#last = found.at(-1) ?? null;
      },
      (error: Error) => this.#failed(folder, error.message),
    );
  }

  #begin(folder: string): string {
    const { clock } = this.#world;
    const at = clock.now();
    const name = nameOf(at);
    const begun = { name, folder, since: at, entries: 0, bytes: 0 };
    this.#running = begun;
    const { keep, to } = this.#plan;
    if (folder === to) this.#triedAt = clock.monotonic();
    const tell = (progress: { entries: number; bytes: number }): void => {
      this.#running = { ...begun, ...progress };
    };
    this.#maker
      .make({ to: folder, keep, at }, tell)
      .then(
        (made) => this.#made(folder, made),
        (error: Error) => {
          this.#recent = { name, folder, made: null, why: error.message };
          this.#failed(folder, error.message);
        },
      )
      .finally(() => {
        this.#running = null;
      });
    return name;
  }

  #made(folder: string, made: MadeBackup): void {
    const { bytes, newBytes, records, tookMs } = made.header;
    const { log } = this.#world;
    log.info({ folder: made.folder, bytes, newBytes, records, tookMs }, 'backup made');
    if (made.left !== null) log.warn({ folder, why: made.left }, 'older backups are left');
    this.#recent = { name: made.name, folder, made: viewOf(made), why: null };
    if (folder !== this.#plan.to) return;
    this.#failure = null;
    this.#last = made;
  }

  #failed(folder: string, why: string): void {
    const { clock, log } = this.#world;
    log.error({ folder, why }, 'no backup was made');
    if (folder !== this.#plan.to) return;
    this.#failure = { at: clock.now(), folder, why };
    this.#triedAt = null;
  }
}

function viewOf({ name, folder, header }: MadeBackup): BackupView {
  const { format: _, listSha256: __, ...told } = header;
  return { ...told, name, folder };
}
