// Arrays of a site as its gateway listed them last, kept on disk: a gateway that is started again
// asks for elements that went meanwhile.

import type { SiteJob } from '../../../../kernel/model/site.ts';
import type { Log } from '../../../../kernel/ports/log.ts';
import type { SiteNotes } from '../../ports/sites.ts';

const NOTE = 'arrays';
/** Some 500 KiB. */
const ARRAYS_MAX = 1000;

export class KnownArrays {
  readonly #notes: Pick<SiteNotes, 'all' | 'write'>;
  readonly #log: Log;
  #kept = '';
  #hasFailed = false;

  constructor(notes: Pick<SiteNotes, 'all' | 'write'>, log: Log) {
    this.#notes = notes;
    this.#log = log;
  }

  /** What the gateway before this one noted; a note that cannot be read is none. */
  read(): ReadonlyMap<string, SiteJob> {
    try {
      const jobs = JSON.parse(this.#notes.all().get(NOTE) ?? '[]') as readonly SiteJob[];
      return new Map(jobs.map((job) => [job.id, job]));
    } catch (error) {
      this.#log.warn({ error }, 'what was noted of arrays of the site cannot be read');
      return new Map();
    }
  }

  keep(arrays: readonly SiteJob[]): void {
    const text = JSON.stringify(arrays.slice(0, ARRAYS_MAX));
    if (text === this.#kept) return;
    try {
      this.#notes.write(NOTE, text);
      this.#kept = text;
      this.#hasFailed = false;
    } catch (error) {
      // Tried again with each look, as on a full disk.
      if (!this.#hasFailed) this.#log.warn({ error }, 'arrays of the site cannot be noted');
      this.#hasFailed = true;
    }
  }
}
