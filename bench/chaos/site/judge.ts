// The users of a steered site are served as the site would serve them: each of their jobs runs
// once, all of it, where they let it, until they cancel it; and nobody has more of a node than it
// has.

import type { HistoryJob, HistoryTask } from '../../../src/kernel/api/history.ts';
import { type Case, gather } from '../case.ts';
import type { Life, SiteEvidence, Span } from '../evidence.ts';
import { type Given, SITE, siteOf, type TheirWork } from './evidence.ts';

/** From the word of a cancel to the last receipt of what it ends. */
const CANCEL_MS = 3000;
/** Until the gateway has dialled, and has told what its site has. */
const MEETS_MS = 10_000;

export function judgeSite(all: Case): void {
  const { site } = all.evidence;
  judgeOurs(all);
  if (site === null) return;
  const judged = new SiteJudge(all, site);
  for (const given of site.given) judged.one(given);
  judged.strangers();
  judged.room();
}

/** What is to run at the site does, and nothing else of ours. */
function judgeOurs(all: Case): void {
  for (const { id, work, epochs } of all.tasks) {
    for (const { epoch, host } of [...epochs.values()].flat()) {
      const { at } = work;
      const isThere = at === SITE ? siteOf(host) === SITE : host === at;
      if (at === null ? siteOf(host) === null : isThere) continue;
      all.violate('on a node it does not want', `${id}#${epoch} on ${host}, for ${at ?? 'ours'}`);
    }
  }
}

class SiteJudge {
  readonly #all: Case;
  readonly #site: SiteEvidence;
  readonly #lives = new Map<string, Life[]>();
  readonly #rows = new Map<number, HistoryTask[]>();
  readonly #works = new Map<string, TheirWork>();

  constructor(all: Case, site: SiteEvidence) {
    this.#all = all;
    this.#site = site;
    for (const life of site.lives) gather(this.#lives, arrayOf(life.task), life);
    for (const row of site.tasks) gather(this.#rows, row.jobId, row);
    for (const { id, work } of site.given) this.#works.set(id, work);
  }

  one(given: Given): void {
    const lives = this.#lives.get(given.id) ?? [];
    this.#judgeRuns(given, lives);
    this.#judgePlaces(given, lives);
    if (given.cancelledAt !== null) this.#judgeCancel(given, given.cancelledAt, lives);
    this.#judgeBooks(given, lives);
  }

  strangers(): void {
    for (const [id, [life]] of this.#lives) {
      if (this.#works.has(id)) continue;
      this.#all.violate('nobody asked', `job ${SITE}/${id} with name ${life?.key}`);
    }
  }

  /** Each process of each element once, to its end. */
  #judgeRuns({ work, id, cancelledAt }: Given, lives: readonly Life[]): void {
    const seen = new Set<string>();
    for (const { task, epoch, nodeRank, host, from } of lives) {
      const place = `${task} rank ${nodeRank}`;
      if (seen.has(place) || epoch > 0) {
        const what = `${SITE}/${place} of ${work.key}: again on ${host} at ${from}`;
        this.#all.violate('started twice', what);
      }
      seen.add(place);
    }
    const ended = lives.filter((life) => life.ended).length;
    const due = (work.arraySize ?? 1) * work.nodeCount;
    if (ended >= due) this.#all.count('jobs of the site that ran to their end');
    else if (cancelledAt !== null) this.#all.count('jobs of the site that were cancelled');
    else this.#all.violate('lost', `${nameOf(id, work)}: ${ended} of ${due} processes have ended`);
  }

  #judgePlaces({ work, id }: Given, lives: readonly Life[]): void {
    for (const { host } of lives.filter((life) => !work.nodes.includes(life.host))) {
      const what = `${nameOf(id, work)} (${work.words.join(' ')}) on ${host}`;
      this.#all.violate('on a node it does not want', what);
    }
  }

  #judgeCancel({ work }: Given, cancelledAt: number, lives: readonly Life[]): void {
    for (const { task, until } of lives) {
      if (until <= cancelledAt + CANCEL_MS) continue;
      const what = `${SITE}/${task} of ${work.key}, cancelled at ${cancelledAt}, until ${until}`;
      this.#all.violate('ran on', what);
    }
    if (lives.length === 0) this.#all.count('jobs of the site cancelled before they began');
    if (lives.length === 0 && work.nodes.length === 0)
      this.#all.count(`jobs of the site held, as ${work.words.join(' ')} is not planned`);
  }

  #judgeBooks({ work, id, cancelledAt }: Given, lives: readonly Life[]): void {
    const jobs = this.#jobsOf(id);
    const name = nameOf(id, work);
    if (jobs.length > 1) {
      const ids = jobs.map((job) => job.id).join(', ');
      return this.#all.violate('two jobs for a key', `${name} became jobs ${ids}`);
    }
    const [job] = jobs;
    if (job === undefined) {
      if (this.#wasOverThen(lives, cancelledAt)) {
        return this.#all.count('jobs of the site that were over when the head met them again');
      }
      if (cancelledAt !== null && lives.length === 0) {
        return this.#all.count('jobs of the site cancelled before they were seen');
      }
      return this.#all.violate('books', `${name} is not in the history`);
    }
    if (job.state !== 'done') return this.#all.violate('lost', `${name} is ${job.state}`);
    for (const row of this.#rows.get(job.id) ?? []) {
      if (wasElsewhere(row)) this.#all.count('starts taken back, as the site had it elsewhere');
      else this.#judgeRow(row, { name, work, cancelledAt, lives });
    }
  }

  /** A head that was put back takes in what is there when it goes on. */
  #wasOverThen(lives: readonly Life[], cancelledAt: number | null): boolean {
    const over = Math.max(...lives.map(({ until }) => until), cancelledAt ?? 0);
    return this.#all.evidence.restores.some(({ copiedAt, endedAt, goesOnAt }) => {
      return copiedAt <= over && over <= (goesOnAt ?? endedAt) + MEETS_MS;
    });
  }

  #jobsOf(id: string): HistoryJob[] {
    return this.#site.jobs.filter(({ command }) => command === `${SITE}/${id}`);
  }

  #judgeRow(
    { id, index, outcome, nodes }: HistoryTask,
    { name, work, cancelledAt, lives }: Judged,
  ): void {
    const own = index === null ? lives : lives.filter(({ task }) => task.endsWith(`_${index}`));
    const said = `${name} as ${id}: ${outcome.kind} (${outcome.detail ?? 'no detail'})`;
    const isWhole = own.filter((life) => life.ended).length >= work.nodeCount;
    const code = outcome.exit?.code ?? null;
    const fits =
      outcome.kind === 'completed'
        ? isWhole && work.exitCode === 0
        : outcome.kind === 'failed' && isWhole
          ? code === work.exitCode && code !== 0
          : cancelledAt !== null && ['failed', 'cancelled'].includes(outcome.kind);
    if (!fits) return this.#all.violate('end without receipt', `${said}, exit ${code}`);
    const strayed = own.filter(({ host }) => !nodes.includes(host));
    if (strayed.length === 0) return this.#all.count(`ended at the site: ${outcome.kind}`);
    const where = strayed.map(({ host }) => host).join(', ');
    this.#all.violate('books', `${said} on ${nodes.join(', ')}; it ran on ${where}`);
  }

  /** Cpus in use of each node, by jobs of the site and ours together. */
  room(): void {
    const theirs = this.#site.lives.map(({ task, host, from, until }) => {
      const cpus = this.#works.get(arrayOf(task))?.cpuCount ?? 0;
      return { name: `${SITE}/${task}`, host, from, until, cpus };
    });
    const ours = this.#all.tasks.flatMap(({ id, work, epochs }) =>
      [...epochs.values()].flat().map(({ host, from, until }) => {
        // Ranks of one node share what it was given there.
        return { name: id, host, from, until, cpus: work.cpuCount / work.processesPerNode };
      }),
    );
    const runs: Run[] = [...theirs, ...ours].filter(({ host }) => siteOf(host) === SITE);
    for (const { host, from } of runs) {
      const beside = runs.filter((run) => {
        return run.host === host && run.from <= from && from < run.until;
      });
      const cpus = beside.reduce((sum, run) => sum + run.cpus, 0);
      if (cpus <= this.#site.cpusPerNode) continue;
      const names = beside.map((run) => run.name).join(', ');
      this.#all.violate('more than a node has', `${host} at ${from}: ${cpus} cpus of ${names}`);
    }
  }
}

interface Judged {
  readonly name: string;
  readonly work: TheirWork;
  readonly cancelledAt: number | null;
  readonly lives: readonly Life[];
}

interface Run extends Span {
  readonly name: string;
  readonly host: string;
  readonly cpus: number;
}

/** A start that was ordered before the site had said where the job was, as the head words it. */
function wasElsewhere({ final, outcome }: HistoryTask): boolean {
  return !final && outcome.detail?.startsWith('its site says that it is on ') === true;
}

function nameOf(id: string, { key }: TheirWork): string {
  return `job ${SITE}/${id} (${key})`;
}

function arrayOf(task: string): string {
  return task.split('_')[0] ?? '';
}
