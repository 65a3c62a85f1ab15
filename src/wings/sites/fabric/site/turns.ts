// Standing still and signals of a job that runs at a site, as far as its system can. That it stands
// still or goes on only its site's listing says.

import type { Result } from '../../../../kernel/base/result.ts';
import type { SiteJob } from '../../../../kernel/model/site.ts';
import type { SiteProblem } from '../../adaptors/adaptor.ts';
import { isPausing } from './pausing.ts';

/** An order shows in a listing by then, or is given again. */
const SHOWN_MS = 20_000;
/** After an answer that no site gave. */
const AGAIN_MS = 5_000;
/** After a refusal, which will mostly be the same again. */
const REFUSED_MS = 60_000;
/** A user who wakes a job for only a moment has asked for the next stop by then. */
const MOMENT_MS = 1_000;
/** More that wait for a job to go on are dropped. */
const SIGNALS_MAX = 100;

const SIGCONT = 18;

export interface Turns {
  /** The job is stopped, as its site listed it last. */
  isStopped: boolean;
  /** The job is to be stopped (true) or to go on (false); null: nobody asks for either. */
  wish: boolean | null;
  /** What its site was told last, which may not show yet; null: nothing. */
  told: boolean | null;
  /** Sent and not passed on yet, in order. */
  readonly signals: number[];
  /** Neither is ordered before. */
  nextAt: number;
  /** No signal is passed on before. */
  signalAt: number;
}

/**
 * @param isStopped as a gateway before this one has noted it, which may have told its site anything
 * since
 */
export function newTurns(isStopped: boolean | null): Turns {
  const told = isStopped === null ? null : true;
  return { isStopped: isStopped === true, wish: null, told, signals: [], nextAt: 0, signalAt: 0 };
}

export type TurnWork = 'suspend' | 'resume' | 'signal';

/** The next thing to tell its site, where it runs and nobody ends it; null: nothing. */
export function turnOf(turns: Turns, now: number): TurnWork | null {
  const { isStopped, wish, told, signals, nextAt, signalAt } = turns;
  const isSaid = told === null || told === wish;
  const isDue = wish !== null && (wish !== isStopped || !isSaid) && !isPausing(nextAt, now);
  if (isDue) return wish ? 'suspend' : 'resume';
  const [signal] = signals;
  if (signal === undefined || isPausing(signalAt, now)) return null;
  // They wait until it goes on, as for any process that is stopped.
  const isStill = isStopped || told === true;
  return !isStill || signal === SIGCONT ? 'signal' : null;
}

export function wished(turns: Turns, wish: boolean, now: number): void {
  if (turns.wish === wish) return;
  turns.wish = wish;
  turns.nextAt = wish ? 0 : now + MOMENT_MS;
}

export function signalled(turns: Turns, signal: number): void {
  if (turns.signals.length < SIGNALS_MAX) turns.signals.push(signal);
}

/** @param wish what its site was told */
export function turned(
  turns: Turns,
  wish: boolean,
  answer: Result<null, SiteProblem>,
  now: number,
): void {
  const isRefused = !answer.ok && answer.error.kind === 'refused';
  // What is told to go on and stands still no more is refused that.
  if (answer.ok || (isRefused && !wish)) turns.told = wish;
  // Whoever wants the other by now is not to wait.
  if (turns.wish !== wish) return;
  turns.nextAt = now + (answer.ok ? SHOWN_MS : isRefused ? REFUSED_MS : AGAIN_MS);
}

/** What its site refuses reached nobody, as a signal to what is over. */
export function passed(turns: Turns, answer: Result<null, SiteProblem>, now: number): void {
  if (answer.ok || answer.error.kind !== 'away') turns.signals.shift();
  else turns.signalAt = now + AGAIN_MS;
}

/** True: it stands still, or goes on, since the listing before. */
export function turnListed(turns: Turns, { state }: Pick<SiteJob, 'state'>): boolean {
  if (state !== 'running' && state !== 'suspended') return false;
  const before = turns.isStopped;
  turns.isStopped = state === 'suspended';
  // From now on others may stop it; what we stopped stays so, whoever wakes it.
  if (!turns.isStopped && turns.wish === false && turns.told !== true) turns.wish = null;
  return before !== turns.isStopped;
}
