// Where things run: never more on a host than it has, nobody else in a reservation's share, and
// nothing while it is suspended.

import { type Case, overlapMs, type TaskCase } from './case.ts';
import type { Life, SetAside, Span, Stop } from './evidence.ts';
import { PAUSE_MS } from './receipts.ts';

/** A process that is told to stop, or to end, may write once more. */
const SLACK_MS = 300;
/** Before the times in which nobody was there to keep the time limit or to start in time. */
const LIMIT_AND_GRACE_MS = 15_000;

/** One task on one host without a pause. */
interface Run extends Span {
  readonly task: TaskCase;
  readonly epoch: number;
  readonly host: string;
  /** A suspended task that is ended goes on for its grace, or it could not hear of it. */
  readonly lastWords: boolean;
  /** The head has lost the record of its start. */
  readonly isLost: boolean;
}

export function judgePlaces(all: Case): void {
  const runs = all.tasks.flatMap((task) => runsOf(all, task));
  for (const host of new Set(runs.map((run) => run.host))) {
    const here = runs.filter((run) => run.host === host).sort((a, b) => a.from - b.from);
    judgeRoom(all, here);
    for (const share of all.setAside) {
      if (share.hosts.includes(host)) judgeShare(all, share, here);
    }
  }
  judgeMembers(all);
  judgeStops(all);
}

/** Members of a reservation begin on its nodes and in its time; later only where the start was. */
function judgeMembers(all: Case): void {
  const shares = new Map(all.setAside.map((share) => [share.name, share]));
  for (const { id, work, epochs } of all.tasks) {
    const share = shares.get(work.reservation ?? '');
    if (share === undefined) continue;
    for (const { epoch, host: machine, from } of [...epochs.values()].flat()) {
      const host = all.nodeOf(machine);
      const { hosts, until } = share;
      const isIn = hosts.includes(host) && share.from - SLACK_MS <= from;
      if (isIn && from < until) continue;
      // A task that a reservation's end met, and that was requeued then, runs as any other.
      const hasRunThere = [...epochs.values()].flat().some((life) => life.from < until);
      if (from >= until && hasRunThere) continue;
      // Whose reservation is over before it began runs as any other task.
      if (
        from >= until &&
        all.outages([host, ...hosts, 'head'], { from: share.from, until: from }).length > 0
      ) {
        all.count('began after its reservation, the node had been out');
        continue;
      }
      const where = `${id}#${epoch} on ${host} at ${from}`;
      const when = `${share.name} on ${hosts.join(', ')} from ${share.from} to ${until}`;
      all.violate('outside its reservation', `${where}, ${when}`);
    }
  }
}

/**
 * The runs of an epoch, one for all its processes on a host: they share what it was given there.
 */
function runsOf(all: Case, task: TaskCase): Run[] {
  const stops = all.evidence.stops.filter((stop) => stop.task === task.id);
  return [...task.epochs].flatMap(([epoch, lives]) =>
    [...new Set(lives.map((life) => life.host))].flatMap((host) => {
      const here = lives.filter((life) => life.host === host);
      const row = task.rows.find((one) => one.epoch === epoch);
      const isLost = row === undefined && all.lossOf(lives) !== null;
      // One that heeds no signal may come to its own end in its grace.
      const wasEnded = row?.outcome.kind === 'node_fail' || !here.some((life) => life.ended);
      const still = stops.filter((stop) => stop.epoch === epoch && stop.host === host);
      const spans = without(united(here.flatMap((life) => life.runs)), still);
      return spans.map((span, at) => {
        const stood = still.some((stop) => stop.until <= span.from + SLACK_MS);
        const isLast = (at > 0 || stood) && at === spans.length - 1 && wasEnded;
        const lastWords = isLast && span.until - span.from < all.evidence.killGraceMs + SLACK_MS;
        return { ...span, task, epoch, host, lastWords, isLost };
      });
    }),
  );
}

function united(spans: readonly Span[]): Span[] {
  const all: Span[] = [];
  for (const span of [...spans].sort((a, b) => a.from - b.from)) {
    const last = all.at(-1);
    if (last === undefined || span.from > last.until) all.push(span);
    else all[all.length - 1] = { from: last.from, until: Math.max(last.until, span.until) };
  }
  return all;
}

/**
 * The spans less those times. A suspension that was over at once may end before it begins, as the
 * head counts its begin from the start of the task that it heard of late: nothing stood still then.
 */
function without(spans: readonly Span[], times: readonly Span[]): Span[] {
  const real = times.filter(({ from, until }) => from < until);
  return real.reduce<readonly Span[]>(
    (left, time) =>
      left
        .flatMap(({ from, until }) => [
          { from, until: Math.min(until, time.from) },
          { from: Math.max(from, time.until), until },
        ])
        .filter((span) => span.from < span.until),
    spans,
  ) as Span[];
}

function cpusOf(runs: readonly Run[]): number {
  return runs.reduce((sum, run) => sum + run.task.work.cpuCount, 0);
}

function namesOf(runs: readonly Run[]): string {
  return runs.map((run) => `${run.task.id}#${run.epoch}`).join(', ');
}

/** Those of `runs`, sorted by their begin, that run at an instant. */
function runningAt(runs: readonly Run[], at: number): Run[] {
  return runs.filter((run) => run.from <= at && at < run.until);
}

/** A short stop leaves no gap between the beats of whoever makes room for an urgent task. */
function mayStandStill(one: Run, { task, from, until }: Run): boolean {
  const isBelow = task.work.partition === 'urgent' && one.task.work.partition !== 'urgent';
  return isBelow && Math.min(one.until, until) - from <= PAUSE_MS;
}

function judgeRoom(all: Case, runs: readonly Run[]): void {
  for (const run of runs) {
    const beside = runningAt(runs, run.from);
    const lasting = beside.filter((one) => !one.lastWords);
    if (cpusOf(beside) <= all.evidence.cpusPerHost) continue;
    const awake = beside.filter((one) => !mayStandStill(one, run));
    if (cpusOf(awake) <= all.evidence.cpusPerHost) {
      all.count('beside an urgent task, too short to see whether it stood still');
      continue;
    }
    if (cpusOf(lasting) <= all.evidence.cpusPerHost) {
      all.count('ended while suspended, went on for its grace');
      continue;
    }
    const what = `${cpusOf(beside)} cpus of ${namesOf(beside)}`;
    all.violate('more than a node has', `${run.host} at ${run.from}: ${what}`);
  }
}

function judgeShare(all: Case, share: SetAside, runs: readonly Run[]): void {
  const strangers = runs.filter((run) => {
    // What the head does not know of it ends when it meets it.
    return run.task.work.reservation !== share.name && !run.lastWords && !run.isLost;
  });
  const left = all.evidence.cpusPerHost - share.cpus;
  // Its grace is beside the time limit, by which the room was planned.
  const begin = share.from + all.evidence.killGraceMs + SLACK_MS;
  const instants = [begin, ...strangers.map((run) => run.from)];
  const seen = new Set<string>();
  for (const at of instants.filter((one) => begin <= one && one < share.until)) {
    const inside = runningAt(strangers, at);
    const names = namesOf(inside);
    if (cpusOf(inside) <= left || seen.has(names)) continue;
    seen.add(names);
    judgeStrangers(all, share, inside, at);
  }
}

/** A start that came late and a limit that nobody kept are allowed where the node was out. */
function judgeStrangers(all: Case, share: SetAside, inside: readonly Run[], at: number): void {
  const [host = ''] = inside.map((run) => run.host);
  const before = {
    from: Math.min(...inside.map((run) => run.from)) - LIMIT_AND_GRACE_MS,
    until: at,
  };
  if (all.outages([host], before).length > 0) {
    return all.count('in a reservation, the node had been out');
  }
  const what = `${namesOf(inside)} at ${at}, in ${share.name} from ${share.from}`;
  all.violate('in a reservation', `${host}: ${what}`);
}

function judgeStops(all: Case): void {
  const lives = new Map<string, Life[]>();
  for (const life of all.evidence.lives) {
    const key = `${life.task} ${life.epoch} ${life.host}`;
    lives.set(key, [...(lives.get(key) ?? []), life]);
  }
  for (const told of all.evidence.stops) {
    const stop = { ...told, until: Math.min(told.until, lossOf(all, told)) };
    for (const life of lives.get(`${stop.task} ${stop.epoch} ${stop.host}`) ?? []) {
      judgeStop(all, stop, life);
    }
  }
}

/**
 * Whose start was given up with a silent node is told to end at once, and is let go on for that.
 */
function lossOf(all: Case, { task, epoch }: Stop): number {
  const rows = all.tasks.find(({ id }) => id === task)?.rows ?? [];
  const row = rows.find((one) => one.epoch === epoch && one.outcome.kind === 'node_fail');
  return row?.endedAt ?? Number.POSITIVE_INFINITY;
}

function judgeStop(all: Case, stop: Stop, life: Life): void {
  const still = { from: stop.from + SLACK_MS, until: stop.until - SLACK_MS };
  const ran = life.runs.find((run) => overlapMs(run, still) > 0);
  if (ran === undefined || still.from >= still.until) return;
  const isLast = ran === life.runs.at(-1) && life.runs.length > 1 && !life.ended;
  if (isLast && ran.until - ran.from < all.evidence.killGraceMs + SLACK_MS) {
    return all.count('ended while suspended, went on for its grace');
  }
  const when = `from ${stop.from} to ${stop.until}, it ran from ${ran.from} to ${ran.until}`;
  all.violate('ran while suspended', `${life.task}#${life.epoch} on ${life.host}: ${when}`);
}
