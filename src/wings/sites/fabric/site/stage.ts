// Where a job of ours at a site is, as a union, with one function for each step. An end is an end:
// what is heard of the job after that changes nothing of it.

import type { ExitStatus } from '../../../../kernel/model/job.ts';
import type { EndThere } from '../../../../kernel/model/processes.ts';

export interface Exited {
  readonly kind: 'exited';
  readonly exit: ExitStatus;
  readonly at: number;
  readonly userUs: number;
  readonly systemUs: number;
  /** Somebody ended it at its site, in these words. Absent: nobody did, as far as is known. */
  readonly cancelledAs?: string;
}

export type SiteEnding =
  | Exited
  /** The job never began, for certain. `there`: as its site made it; absent: its gateway failed. */
  | { readonly kind: 'unstartable'; readonly why: string; readonly there?: EndThere }
  /** The job began, and nobody can say how it ended. `why`: what its site says of it. */
  | { readonly kind: 'lost'; readonly why: string };

/** Where it is, as far as is known. From the first of these to the last, or at once to the end. */
export type Stage =
  /** The site has nothing of it. */
  | { readonly kind: 'unsent' }
  /** The job may be at the site unknown to us, since this instant. */
  | { readonly kind: 'doubtful'; readonly since: number }
  /** The site gave the job this id. */
  | { readonly kind: 'at_site'; readonly siteJob: string }
  /** Nothing changes that any more. `siteJob` null: its site had not named it until then. */
  | { readonly kind: 'ended'; readonly ending: SiteEnding; readonly siteJob: string | null };

/**
 * `said`: its site says that it runs. `proven`: its script took the claim, so that what the site
 * says of its end is about our program. `unheard`: neither.
 */
export type Begun = 'unheard' | 'said' | 'proven';

interface Placed {
  stage: Stage;
}

export function endingOf({ stage }: Placed): SiteEnding | null {
  return stage.kind === 'ended' ? stage.ending : null;
}

/** The job's id at the site; empty: it has none. */
export function siteJobOf({ stage }: Placed): string {
  if (stage.kind === 'at_site') return stage.siteJob;
  return stage.kind === 'ended' ? (stage.siteJob ?? '') : '';
}

export function hasBegun({ begun }: { readonly begun: Begun }): boolean {
  return begun !== 'unheard';
}

/** S6: the first end that is known for certain stays. */
export function end(entry: Placed, ending: SiteEnding): void {
  if (entry.stage.kind === 'ended') return;
  entry.stage = { kind: 'ended', ending, siteJob: siteJobOf(entry) || null };
}

/** G14: its site says that it runs. */
export function saidToRun(entry: { begun: Begun }): void {
  if (entry.begun === 'unheard') entry.begun = 'said';
}

/** The site has nothing of it: it may be submitted (anew). */
export function unsent(entry: Placed): void {
  if (entry.stage.kind !== 'ended') entry.stage = { kind: 'unsent' };
}

/** S3: the site may have it, so that it is looked up before anything else. */
export function doubtful(entry: Placed, since: number): void {
  if (entry.stage.kind !== 'ended') entry.stage = { kind: 'doubtful', since };
}

/** The site gave the job this id; of one that is over it is noted all the same. */
export function sent(entry: Placed & { nextAt: number }, siteJob: string): void {
  const { stage } = entry;
  entry.stage = stage.kind === 'ended' ? { ...stage, siteJob } : { kind: 'at_site', siteJob };
  entry.nextAt = 0;
}
