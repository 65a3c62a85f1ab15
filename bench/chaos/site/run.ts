// What goes on at the steered site of a chaos run: its users give jobs to it and cancel some, tasks
// of ours are sent there, and its gateway is broken.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Insistent, Worker } from '../client.ts';
import type { Accepted, Outage, SiteEvidence, Work } from '../evidence.ts';
import type { Fault, Rest } from '../faults.ts';

import { livesOf } from '../receipts.ts';
import { type Given, SITE, type TheirWork } from './evidence.ts';
import type { SitePlan } from './plan.ts';
import { SITE_CPUS, type Site, siteIsUp } from './site.ts';

const THEIRS_EVERY_MS = 4000;
const OURS_EVERY_MS = 6000;
const FAULT_EVERY_MS = 25_000;
/** Users may have more to wait for than the head knows of. */
const PATIENCE_MS = 60_000;
const LOOK_MS = 1000;
/** Jobs and elements of arrays that have begun; its nodes take some at once. */
const BACKLOG_MAX = 8;

interface Means {
  readonly site: Site;
  readonly plan: SitePlan;
  readonly client: Insistent;
  readonly worker: Worker;
  readonly rest: Rest;
  readonly isOver: () => boolean;
  /** The work as any other one, with a key. */
  readonly workOf: (at: string, of: Partial<Work>) => Work;
  readonly onAccepted: (accepted: Accepted) => void;
  readonly onOutage: (outage: Outage) => void;
}

export class SiteRun {
  readonly #means: Means;
  readonly #given: Given[] = [];

  constructor(means: Means) {
    this.#means = means;
    means.site.takeWorker(means.worker.path);
  }

  /** Each until the run is over. */
  begin(): Promise<void>[] {
    return [this.#give(), this.#send(), this.#break()];
  }

  async #give(): Promise<void> {
    const { plan, rest, isOver } = this.#means;
    const open: Promise<void>[] = [];
    for (;;) {
      const { afterMs, work } = plan.theirs(THEIRS_EVERY_MS);
      await rest(afterMs);
      await this.#backlog();
      if (isOver()) break;
      open.push(this.#giveOne(work));
    }
    await Promise.all(open);
  }

  /** A site that is away, or a machine that is busy, must not have a queue without end. */
  async #backlog(): Promise<void> {
    const { site, rest, isOver } = this.#means;
    while (!isOver() && (await site.jobsLeft()) > BACKLOG_MAX) await rest(LOOK_MS);
  }

  async #giveOne(work: TheirWork): Promise<void> {
    const { site, rest } = this.#means;
    const id = await site.give(work);
    if (work.cancelAfterMs === null) {
      this.#given.push({ work, id, cancelledAt: null });
      return;
    }
    await rest(work.cancelAfterMs);
    await site.cancel(id);
    this.#given.push({ work, id, cancelledAt: Date.now() });
  }

  async #send(): Promise<void> {
    const { plan, client, worker, rest, isOver, workOf, onAccepted } = this.#means;
    const open: Promise<void>[] = [];
    for (;;) {
      const { afterMs, work } = plan.ours(OURS_EVERY_MS);
      await rest(afterMs);
      if (isOver()) break;
      open.push(client.submit(workOf(work.at, work), worker).then(onAccepted));
    }
    await Promise.all(open);
  }

  async #break(): Promise<void> {
    const { plan, rest, isOver, onOutage } = this.#means;
    for (;;) {
      const fault = plan.fault(FAULT_EVERY_MS);
      await rest(fault.afterMs);
      if (isOver()) return;
      onOutage(await this.#breakOnce(fault));
    }
  }

  async #breakOnce({ how, parts, forMs }: Fault): Promise<Outage> {
    const { site, client, rest } = this.#means;
    const from = Date.now();
    if (how === 'kill') {
      await site.endGateway('SIGKILL');
      await rest(forMs);
      site.startGateway();
    } else if (how === 'stop') {
      site.signalGateway('SIGSTOP');
      await rest(forMs);
      site.signalGateway('SIGCONT');
    } else {
      site.host.cut();
      await rest(forMs);
      site.host.rejoin();
    }
    await siteIsUp((names) => client.nodesUp(names));
    return { host: SITE, how, parts, from, until: Date.now() };
  }

  /** Once the head knows of nothing more to do. */
  async settled(): Promise<void> {
    const { site } = this.#means;
    for (const until = performance.now() + PATIENCE_MS; performance.now() < until; ) {
      if ((await site.jobsLeft()) === 0) return;
      await sleep(LOOK_MS);
    }
  }

  evidence({ jobs, tasks }: Pick<SiteEvidence, 'jobs' | 'tasks'>): SiteEvidence {
    const lives = livesOf(this.#means.site.receiptFiles());
    return { given: this.#given, lives, jobs, tasks, cpusPerNode: SITE_CPUS };
  }
}

type History = Pick<SiteEvidence, 'jobs' | 'tasks'>;

/** `theirs`: of jobs that stand for those of the site's users. */
export function splitHistory(all: History): { history: History; theirs: History } {
  const areTheirs = all.jobs.filter(({ command }) => command.startsWith(`${SITE}/`));
  const ids = new Set(areTheirs.map(({ id }) => id));
  const of = (isTheirs: boolean): History => ({
    jobs: all.jobs.filter(({ id }) => ids.has(id) === isTheirs),
    tasks: all.tasks.filter(({ jobId }) => ids.has(jobId) === isTheirs),
  });
  return { history: of(false), theirs: of(true) };
}
