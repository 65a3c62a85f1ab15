// The site that an agent is the gateway of, as its messages to and from the head speak of it.

import type { SiteHold, SiteJobPlace, SiteNews, StopRequest } from '../model/site.ts';

/** What a gateway knows of its site, for its head. */
export interface SiteSource {
  /** All of it now, then what changes, until `disconnect`. */
  connect(send: (news: SiteNews) => void): void;
  disconnect(): void;
  /** Jobs that its site should end. */
  cancel(jobs: readonly SiteJobPlace[]): void;
  /** Jobs that the head waits for and that were in no listing: whether its site knows them. */
  ask(jobs: readonly string[]): void;
  /** All jobs of its users that are held at the head: each finds the reason at its job there. */
  hold(jobs: readonly SiteHold[]): void;
  /**
   * All nodes that its site should keep from jobs; others are given back as they were.
   * @param number of this word in the session, which the next news says was heard
   */
  stop(wishes: readonly StopRequest[], number: number): void;
  /** Why there is no work for its node; null: there may be. */
  fault(): string | null;
  /** Stops asking the site. */
  close(): void;
}
