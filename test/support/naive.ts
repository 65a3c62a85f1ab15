// A scheduler written for clarity alone: one pool of counted processors, an event loop of its own,
// and each policy as its paper tells it. It shares no code with the one that it checks.

/** Times in any one unit. */
export interface NaiveJob {
  readonly submit: number;
  readonly run: number;
  readonly estimate: number;
  readonly size: number;
}

interface Running {
  readonly end: number;
  /** By the estimate. */
  readonly expectedEnd: number;
  readonly size: number;
}

interface Machine {
  readonly now: number;
  free: number;
  readonly running: Running[];
  /** Indices of jobs, in order of arrival. */
  waiting: number[];
  readonly jobs: readonly NaiveJob[];
  readonly starts: number[];
}

export type NaivePolicy = 'fifo' | 'easy' | 'conservative' | 'first_fit';

/** The start of each job; `jobs` in order of arrival, each no wider than the machine. */
export function naiveStarts(
  jobs: readonly NaiveJob[],
  processors: number,
  policy: NaivePolicy,
): number[] {
  const starts: number[] = [];
  let machine: Machine = { now: 0, free: processors, running: [], waiting: [], jobs, starts };
  let arrived = 0;
  for (;;) {
    const arrivals = jobs.slice(arrived, arrived + 1).map((job) => job.submit);
    const now = Math.min(...arrivals, ...machine.running.map((one) => one.end));
    if (now === Infinity) return starts;
    machine = withoutEnded({ ...machine, now });
    while (jobs[arrived]?.submit === now) {
      machine.waiting.push(arrived);
      arrived += 1;
    }
    POLICIES[policy](machine);
  }
}

const POLICIES = { fifo, easy, conservative, first_fit: firstFit };

/** First come, first served: who does not fit stops all behind. */
function fifo(machine: Machine): void {
  while (machine.waiting.length > 0 && fits(machine, machine.waiting[0] as number)) {
    start(machine, machine.waiting[0] as number);
  }
}

/** In order, whoever fits. */
function firstFit(machine: Machine): void {
  for (const index of [...machine.waiting]) if (fits(machine, index)) start(machine, index);
}

/**
 * Lifka 1995, as in Mu'alem and Feitelson 2001, figure 1: the first that waits gets a shadow time,
 * when enough processors will be free, and leaves some extra processors then. Another may go ahead
 * if it ends before the shadow time, or if it only takes extra processors.
 */
function easy(machine: Machine): void {
  fifo(machine);
  const [first, ...others] = machine.waiting;
  if (first === undefined) return;
  const { size } = machine.jobs[first] as NaiveJob;
  const shadow = Math.min(
    ...machine.running.map((one) => one.expectedEnd).filter((at) => freeAt(machine, at) >= size),
  );
  let extra = freeAt(machine, shadow) - size;
  for (const index of others) {
    const job = machine.jobs[index] as NaiveJob;
    const endsInTime = machine.now + job.estimate <= shadow;
    if (!fits(machine, index) || !(endsInTime || job.size <= extra)) continue;
    if (!endsInTime) extra -= job.size;
    start(machine, index);
  }
}

/** Free processors at an instant if nothing else starts. */
function freeAt(machine: Machine, at: number): number {
  const ended = machine.running.filter((one) => one.expectedEnd <= at);
  return machine.free + ended.reduce((sum, one) => sum + one.size, 0);
}

/**
 * Mu'alem and Feitelson 2001, figure 2, done anew at every event: each job in order gets the first
 * gap of the profile that is wide and long enough; those whose gap begins now start.
 */
function conservative(machine: Machine): void {
  const { now } = machine;
  const ends = [...new Set(machine.running.map((one) => one.expectedEnd))].sort((a, b) => a - b);
  const profile = [{ at: now, free: machine.free }];
  for (const at of ends) profile.push({ at, free: freeAt(machine, at) });
  for (const index of [...machine.waiting]) {
    const { size, estimate } = machine.jobs[index] as NaiveJob;
    const isFree = (from: number): boolean =>
      profile.every((step, at) => {
        const until = profile[at + 1]?.at ?? Infinity;
        return step.free >= size || until <= from || step.at >= from + estimate;
      });
    const from = (profile.find((step) => isFree(step.at)) as { at: number }).at;
    splitAt(profile, from + estimate);
    for (const step of profile) {
      if (step.at >= from && step.at < from + estimate) step.free -= size;
    }
    if (from === now) start(machine, index);
  }
}

function splitAt(profile: { at: number; free: number }[], at: number): void {
  const before = profile.findLastIndex((step) => step.at <= at);
  const step = profile[before] as { at: number; free: number };
  if (step.at !== at) profile.splice(before + 1, 0, { at, free: step.free });
}

function fits(machine: Machine, index: number): boolean {
  return (machine.jobs[index] as NaiveJob).size <= machine.free;
}

function start(machine: Machine, index: number): void {
  const { size, run, estimate } = machine.jobs[index] as NaiveJob;
  machine.free -= size;
  machine.running.push({ size, end: machine.now + run, expectedEnd: machine.now + estimate });
  machine.waiting = machine.waiting.filter((other) => other !== index);
  machine.starts[index] = machine.now;
}

function withoutEnded(machine: Machine): Machine {
  const ended = machine.running.filter((one) => one.end <= machine.now);
  return {
    ...machine,
    free: ended.reduce((sum, one) => sum + one.size, machine.free),
    running: machine.running.filter((one) => one.end > machine.now),
  };
}
