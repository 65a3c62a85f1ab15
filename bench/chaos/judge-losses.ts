// A head that was put back from a copy says so, starts nothing until it is told to go on, and then
// ends what it has lost. A machine with a copy of a node's folder is told of, and gets no work.

import type { Case, TaskCase } from './case.ts';
import type { Clone, Life, Restore } from './evidence.ts';

/** From an order to its process, and from a decision to the note of it. */
const SLACK_MS = 300;
/** Until a node has heard of the head that goes on, dialled, and ended what that does not know. */
const ENDING_MS = 10_000;

export function judgeLosses(all: Case): void {
  for (const restore of all.evidence.restores) judgeTold(all, restore);
  for (const life of all.evidence.lives) judgeStart(all, life);
  for (const task of all.tasks) judgeLeftovers(all, task);
  for (const clone of all.evidence.clones) judgeClone(all, clone);
}

function judgeTold(all: Case, restore: Restore): void {
  const { putBackAt, toldAt, goesOnAt } = restore;
  if (toldAt === null && !hasLostMuch(all, restore)) {
    all.count('heads put back that had written nothing meanwhile, as far as is seen');
  } else if (toldAt === null) {
    all.violate(
      'not told',
      `the head put back at ${putBackAt} never said that records are missing`,
    );
  } else if (goesOnAt === null) {
    all.violate('not told', `the head put back at ${putBackAt} did not go on with --accept-loss`);
  } else all.count('heads put back from a copy');
}

/** A job was accepted, or a process began, after the copy was made, before it was put back. */
function hasLostMuch({ evidence }: Case, { copiedAt, putBackAt }: Restore): boolean {
  const isIn = (at: number): boolean => copiedAt < at && at < putBackAt;
  return (
    evidence.lives.some(({ from }) => isIn(from)) ||
    evidence.accepted.some(({ answeredAt }) => answeredAt.some(isIn))
  );
}

/** Nothing begins between the word that records are missing and the order to go on. */
function judgeStart(all: Case, { task, epoch, host, from }: Life): void {
  for (const { putBackAt, toldAt, endedAt } of all.evidence.restores) {
    if (toldAt === null || from <= toldAt + SLACK_MS || from >= endedAt) continue;
    // An order from before may wait where a node was out.
    if (all.outages([host], { from: putBackAt - SLACK_MS, until: from }).length > 0) {
      all.count('started while records were missing, by an order from before');
      continue;
    }
    const when = `at ${from}; told at ${toldAt}`;
    all.violate('started while records were missing', `${task}#${epoch} on ${host} ${when}`);
  }
}

/** What was started in lost records is ended when its node has met the head again. */
function judgeLeftovers(all: Case, { id, rows, epochs, work }: TaskCase): void {
  for (const [epoch, lives] of epochs) {
    if (rows.some((row) => row.epoch === epoch)) continue;
    const restore = all.lossOf(lives);
    if (restore?.goesOnAt == null) continue;
    const { goesOnAt } = restore;
    for (const life of lives.filter(({ ended }) => !ended)) {
      const bound = goesOnAt + ENDING_MS + (work.stubborn ? all.evidence.killGraceMs : 0);
      if (life.until <= bound) continue;
      if (
        all.outages([life.host, 'head'], { from: goesOnAt + SLACK_MS, until: bound }).length > 0
      ) {
        all.count('lost epochs that ran on, their node was out');
        continue;
      }
      const words = `${id}#${epoch} on ${life.host}, of lost records, until ${life.until}`;
      all.violate('ran on', `${words}; the head went on at ${goesOnAt}`);
    }
  }
}

/**
 * A head that starts waits for the node of a copy that dials, as long as a node needs, and no
 * longer.
 */
function wasJustThere(all: Case, { from }: Life): boolean {
  return all.outages(['head'], { from: from - ENDING_MS, until: from }).length > 0;
}

function judgeClone(all: Case, { node, host, isAlone, told }: Clone): void {
  if (told === null) all.violate('not told', `${host} has the folder of ${node}: nobody said so`);
  const ran = all.evidence.lives.filter((life) => life.host === host);
  if (isAlone && ran.length > 0) all.count('clones taken for their node, which was cut off');
  else if (ran.length > 0 && ran.every((life) => wasJustThere(all, life))) {
    all.count('clones that a head that had just come heard before their node');
  } else if (ran.length > 0) {
    const names = ran.map((life) => `${life.task}#${life.epoch}`).join(', ');
    all.violate('ran on a copy', `${names} on ${host}, a copy of ${node}`);
  } else all.count('clones of nodes');
}
