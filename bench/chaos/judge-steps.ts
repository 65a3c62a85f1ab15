// Steps: each byte once and in order, each end that of its process, and none beyond its task.

import { type Case, spanOf } from './case.ts';
import type { Life, StepTrial } from './evidence.ts';

/** From the end of a task's own program to the last receipt of what is killed with it. */
const KILLED_MS = 1_000;
/** What was out just before a step began may still be on its way back. */
const BACK_MS = 3_000;

export function judgeSteps(all: Case): void {
  const { steps } = all.evidence;
  if (steps === null) return;
  const byKey = Map.groupBy(steps.lives, ({ key }) => key);
  for (const trial of steps.trials) judgeTrial(all, trial, byKey.get(trial.key) ?? []);
  for (const [key, lives] of byKey) {
    if (lives.length > 1) all.violate('started twice', `step ${key} ${lives.length} times`);
    for (const life of lives) judgeLife(all, life);
  }
  for (const [code, count] of Object.entries(steps.refused)) {
    for (let seen = 0; seen < count; seen += 1) all.count(`steps refused: ${code}`);
  }
}

function judgeTrial(all: Case, trial: StepTrial, lives: readonly Life[]): void {
  const { key, id, code, why, exitCode, beats, lines, broken } = trial;
  const name = `${key} (step ${id} on ${trial.host})`;
  if (broken !== null) all.violate('a step said otherwise', `${name}: ${broken}`);
  if (why === null && code !== null && isOwnEnd(trial)) {
    const words = `${name} ended with ${code} after ${lines} lines, not with ${exitCode} after ${beats}`;
    return all.violate('a step said otherwise', words);
  }
  if (code === null) return all.violate('a step is lost', `${name} was never told to be over`);
  if (why === null && code === exitCode && lines === beats) {
    const hasEnded = lives.some(({ ended }) => ended);
    if (hasEnded) return all.count('steps told whole');
    return all.violate('end without receipt', `${name} ended with ${code}`);
  }
  const words = `${name} ended with ${code} after ${lines} of ${beats} lines: ${why ?? 'no reason'}`;
  if (!isExplained(all, trial)) return all.violate('a step is lost', words);
  all.count(why === null ? `steps ended with their task, by ${code}` : `steps lost: ${why}`);
}

/** No signal ended it, and yet it ended otherwise than it was to. */
function isOwnEnd({ code, exitCode, beats, lines }: StepTrial): boolean {
  if (code === null || code > 128) return false;
  return code !== exitCode || lines !== beats;
}

/** The task ended meanwhile, or something was out that it needs. */
function isExplained(all: Case, { id, host, from, until }: StepTrial): boolean {
  const task = id.slice(0, id.lastIndexOf('.'));
  const rows = all.evidence.tasks.filter((row) => row.id === task);
  const isOver = rows.some(({ endedAt, outcome }) => {
    // A cancelled task may take its grace to end, while its step ends at the first signal.
    const graceMs = outcome.kind === 'cancelled' ? all.evidence.killGraceMs : 0;
    return endedAt >= from - KILLED_MS && endedAt <= until + KILLED_MS + graceMs;
  });
  if (isOver) return true;
  // Of a task on several nodes each part ends by itself.
  const isPartOver = all.evidence.lives.some((life) => {
    const isThere = life.task === task && life.host === host && life.ended;
    return isThere && life.until >= from - KILLED_MS && life.until <= until + KILLED_MS;
  });
  if (isPartOver) return true;
  if (all.outages([host, 'head'], { from: from - BACK_MS, until }).length > 0) return true;
  // Its task was told to end, and the end was lost with the machine.
  const lost = all.outages([host], { from: until, until: until + KILLED_MS });
  const isLost = rows.some(({ outcome }) => outcome.kind === 'node_fail');
  return isLost && lost.some(({ how }) => how === 'off');
}

/** A step is killed with its task, unless nobody there can hear of the end. */
function judgeLife(all: Case, life: Life): void {
  const { task, epoch, host, key, until } = life;
  const row = all.evidence.tasks.find((one) => one.id === task && one.epoch === epoch);
  if (row === undefined || until <= row.endedAt + KILLED_MS) return;
  const during = spanOf([life, { from: row.startedAt ?? row.endedAt, until: row.endedAt }]);
  if (all.outages([...row.nodes, 'head'], during).length > 0)
    return all.count('steps that ran on, something was out');
  all.violate(
    'ran on',
    `step ${key} of ${task}#${epoch} on ${host} until ${until}, it ended at ${row.endedAt}`,
  );
}
