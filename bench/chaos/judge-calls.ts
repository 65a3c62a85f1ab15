// Calls of a Python program: each is told once, as what it was, and runs no more often than it may.

import type { Case } from './case.ts';
import type { CallTrial, Life } from './evidence.ts';

/** What was out just before a call began may still be on its way back. */
const BACK_MS = 10_000;

export function judgeCalls(all: Case): void {
  const { calls } = all.evidence;
  if (calls === null) return;
  if (calls.exitCode !== 0) {
    all.violate('a call is lost', `their program ended with code ${calls.exitCode}`);
  }
  const byKey = Map.groupBy(calls.lives, ({ key }) => key);
  const told = new Map<string, number>();
  for (const trial of calls.trials) {
    told.set(trial.key, (told.get(trial.key) ?? 0) + 1);
    judgeCall(all, trial, byKey.get(trial.key) ?? []);
  }
  for (const [key, count] of told) {
    if (count > 1) all.violate('a call said otherwise', `${key} was told ${count} times`);
  }
  for (const [what, count] of Object.entries(calls.refused)) {
    for (let seen = 0; seen < count; seen += 1) all.count(`calls refused: ${what}`);
  }
}

function judgeCall(all: Case, trial: CallTrial, lives: readonly Life[]): void {
  const { key, beats, retries, end, words } = trial;
  const where = lives.map(({ task, epoch, host }) => `${task}#${epoch} on ${host}`).join(', ');
  const name = `call ${key} (${where || 'it never ran'})`;
  if (lives.length > 1 + retries) {
    all.violate('started twice', `${name} ran ${lives.length} times, and has ${retries} retries`);
  }
  if (end === null) return all.violate('a call is lost', `${name} was never told to be over`);
  if (end === 'value')
    return judgeValue(all, { name, lives, isRight: words === `${key} after ${beats}` });
  if (!isExplained(all, trial, lives)) return all.violate('a call is lost', `${name}: ${words}`);
  all.count(`calls told as ${end}`);
}

interface Value {
  readonly name: string;
  readonly lives: readonly Life[];
  readonly isRight: boolean;
}

function judgeValue(all: Case, { name, lives, isRight }: Value): void {
  if (!isRight) return all.violate('a call said otherwise', `${name} has another value`);
  const hasEnded = lives.some(({ ended }) => ended);
  if (!hasEnded) return all.violate('end without receipt', `${name} has a value`);
  all.count(lives.length > 1 ? 'calls told whole, tried again' : 'calls told whole');
}

/** Something was out that it needs: of one that never ran, any of the nodes. */
function isExplained(all: Case, { from, until }: CallTrial, lives: readonly Life[]): boolean {
  const span = { from: from - BACK_MS, until };
  if (lives.length > 0) {
    return all.outages([...lives.map(({ host }) => host), 'head'], span).length > 0;
  }
  return all.evidence.outages.some((one) => one.from <= span.until && one.until >= span.from);
}
