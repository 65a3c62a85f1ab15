// One chaos run: jobs and reservations go in while hosts and head are broken; then everything is
// mended, all jobs come to their end, and what is left as evidence is gathered.

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeName } from '../../src/kernel/model/ids.ts';
import { CPUS, type HostedCluster } from '../../test/e2e/support/hosted-cluster.ts';
import { until } from '../../test/e2e/support/hosts.ts';
import { Caller, POOL } from './caller.ts';
import { Insistent, type Worker } from './client.ts';
import { cloneNode, forgetCopies } from './clones.ts';
import { copyCluster } from './copies.ts';
import type {
  Accepted,
  Clone,
  CopyTrial,
  Evidence,
  Kept,
  Outage,
  Restore,
  SetAside,
  SlowUploads,
  Spied,
} from './evidence.ts';
import { breakHead, breakNode, type Fault } from './faults.ts';
import { fileOf } from './files.ts';
import { Plan } from './plan.ts';
import { livesOf } from './receipts.ts';
import { restoreHead } from './restore.ts';
import { SiteRun, splitHistory } from './site/run.ts';
import { type Site, siteIsUp } from './site/site.ts';
import { Spy } from './spy.ts';
import { Stalls } from './stalls.ts';
import { StepUser } from './step-user.ts';
import { Stops } from './stops.ts';
import { TIMING } from './timing.ts';
import { Uploads } from './uploads.ts';

const JOB_EVERY_MS = 330;
const RESERVATION_EVERY_MS = 20_000;
const FAULT_EVERY_MS = 17_000;
const COPY_EVERY_MS = 20_000;
/** More than this many jobs that are not done make the client wait. */
const BACKLOG_MAX = 150;
/** For all jobs to end in, after everything was mended. */
const PATIENCE_MS = 300_000;

export class ChaosRun {
  readonly stops = new Stops();
  readonly outages: Outage[] = [];
  refusedReservations = 0;
  readonly #cluster: HostedCluster;
  readonly #plan: Plan;
  readonly #client: Insistent;
  readonly #worker: Worker;
  readonly #accepted: Accepted[] = [];
  readonly #setAside: SetAside[] = [];
  readonly #restores: Restore[] = [];
  readonly #stalls = new Stalls();
  readonly #clones: Clone[] = [];
  readonly #over = new AbortController();
  /** Null: no batch system is on this machine. */
  readonly #site: SiteRun | null;
  readonly #secretFiles: readonly string[];

  constructor(cluster: HostedCluster, site: Site | null, seed: number) {
    this.#cluster = cluster;
    this.#plan = new Plan(seed);
    this.#client = new Insistent(cluster.socketPath);
    const path = join(cluster.directory, 'worker');
    const secret = randomBytes(12).toString('hex');
    const nodes = cluster.members.map(({ name }) => name as NodeName);
    const { receipts } = cluster;
    this.#worker = { path, receipts, secret, nodes, atSite: site?.atSite ?? path };
    const source = join(import.meta.dirname, 'worker.c');
    execFileSync('cc', ['-O2', '-Wall', '-o', this.#worker.path, source], { stdio: 'inherit' });
    this.#site = site === null ? null : this.#runOf(site);
    const files = cluster.members.map(({ optionsFile }) => optionsFile);
    this.#secretFiles = site === null ? files : [...files, site.optionsFile];
  }

  #runOf(site: Site): SiteRun {
    return new SiteRun({
      site,
      plan: this.#plan.site,
      client: this.#client,
      worker: this.#worker,
      rest: this.#rest,
      isOver: () => this.#isOver,
      workOf: (at, of) => this.#plan.there(at, of),
      onAccepted: (accepted) => this.#accepted.push(accepted),
      onOutage: (outage) => this.outages.push(outage),
    });
  }

  async siteUp(): Promise<void> {
    await siteIsUp((names) => this.#client.nodesUp(names));
  }

  /** All of it; resolves with the evidence. */
  async run(forMs: number): Promise<Evidence> {
    const reading = new AbortController();
    const told = this.stops.follow(this.#client, reading.signal);
    const token = await Uploads.tokenFrom(this.#client);
    const uploads = new Uploads(this.#cluster.socketPath, token);
    const spy = new Spy([token, this.#worker.secret, ...this.#secretsOfNodes()]);
    const steps = new StepUser({
      socketPath: this.#cluster.socketPath,
      worker: this.#worker,
      rest: this.#rest,
      isOver: () => this.#isOver,
    });
    const copies = copyCluster(COPY_EVERY_MS, { rest: this.#rest, isOver: () => this.#isOver });
    const caller = Caller.start(this.#cluster.directory, this.#cluster.socketPath);
    const parts = [this.#submit(), this.#reserve(), this.#breakHeads()];
    parts.push(...(this.#site?.begin() ?? []));
    for (const member of this.#cluster.members) parts.push(this.#breakNodes(member.name));
    await Promise.race([sleep(forMs), Promise.all(parts)]);
    this.#over.abort();
    await Promise.all(parts);
    const trials = await copies;
    // Its pool ends with it.
    const calls = (await caller?.end()) ?? null;
    await this.#settled();
    await this.#site?.settled();
    const stepped = await steps.end();
    reading.abort();
    await told;
    const slow = await uploads.end();
    return { ...(await this.#evidence(trials, slow, await spy.end())), steps: stepped, calls };
  }

  #secretsOfNodes(): string[] {
    return this.#secretFiles.map((file) => {
      return (JSON.parse(readFileSync(file, 'utf8')) as { secret: string }).secret;
    });
  }

  close(): void {
    this.#client.close();
  }

  get #isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** Shorter when the run is over. */
  readonly #rest = (ms: number): Promise<unknown> =>
    sleep(ms, null, { signal: this.#over.signal }).catch(() => undefined);

  async #submit(): Promise<void> {
    const pending = new Set<Promise<void>>();
    while (!this.#isOver) {
      const { afterMs, work } = this.#plan.work(JOB_EVERY_MS);
      await this.#rest(afterMs);
      if (this.#isOver) break;
      const sent = this.#client.submit(work, this.#worker).then((accepted) => {
        this.#accepted.push(accepted);
        pending.delete(sent);
      });
      pending.add(sent);
      if (this.#accepted.length % 20 === 0) await this.#backlog(BACKLOG_MAX);
    }
    await Promise.all(pending);
  }

  async #backlog(max: number): Promise<void> {
    while (!this.#isOver) {
      const { jobs } = await this.#client.ask('listJobs', {
        query: { state: 'active', limit: max + 1 },
      });
      if (jobs.length <= max) return;
      await this.#rest(1000);
    }
  }

  async #reserve(): Promise<void> {
    for (let at = 1; ; at += 1) {
      const wish = this.#plan.reservation(RESERVATION_EVERY_MS);
      await this.#rest(wish.afterMs);
      if (this.#isOver) return;
      const share = await this.#client.reserve(`lab${at}`, wish, this.#worker);
      if (share === null) this.refusedReservations += 1;
      else {
        this.#setAside.push(share);
        for (let member = 0; member < 3; member += 1) {
          const work = this.#plan.member(share.name);
          const accepted = await this.#client.submitMember(work, this.#worker);
          if (accepted !== null) this.#accepted.push(accepted);
        }
      }
    }
  }

  async #breakNodes(name: string): Promise<void> {
    const member = this.#cluster.member(name);
    while (!this.#isOver) {
      const fault = this.#plan.fault(name, FAULT_EVERY_MS);
      await this.#rest(fault.afterMs);
      if (this.#isOver) return;
      if (fault.how === 'clone') {
        const means = { client: this.#client, rest: this.#rest };
        const { outage, clone } = await cloneNode(this.#cluster, member, fault, means);
        this.outages.push(outage);
        this.#clones.push(clone);
        continue;
      }
      const isBack = () => this.#isBack(name);
      this.outages.push(
        await breakNode(this.#cluster, member, fault, { rest: this.#rest, isBack }),
      );
    }
  }

  async #breakHeads(): Promise<void> {
    while (!this.#isOver) {
      const fault = this.#plan.fault('head', FAULT_EVERY_MS);
      await this.#rest(fault.afterMs);
      if (this.#isOver) return;
      if (fault.how === 'restore') await this.#putBack(fault);
      else this.outages.push(await breakHead(this.#cluster, fault, this.#rest));
    }
  }

  async #putBack(fault: Fault): Promise<void> {
    const onPutBack = () => this.stops.startAnew();
    const means = { client: this.#client, rest: this.#rest, onPutBack };
    const { outage, restore } = await restoreHead(this.#cluster, fault, means);
    this.outages.push(outage);
    this.#restores.push(restore);
  }

  async #isBack(name: string): Promise<void> {
    await until(`node ${name} is up`, async () => {
      if (await this.#client.nodesUp([name])) return true;
      const node = await this.#client.node(name);
      if (node?.fault === 'cloned') await forgetCopies(this.#client, name);
      return undefined;
    });
  }

  /** All jobs are done, or it was waited long enough: the judge says which were not. */
  async #settled(): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    while (performance.now() < deadline) {
      const { jobs } = await this.#client.ask('listJobs', { query: { state: 'active', limit: 1 } });
      if (jobs.length === 0) return;
      await sleep(200);
    }
  }

  /** What the head has of the files of all tasks that completed. */
  async #kept({ jobs }: Pick<Evidence, 'jobs'>): Promise<Kept[]> {
    const kept: Kept[] = [];
    for (const { work } of this.#accepted) {
      if (work.fileBytes === null) continue;
      const job = jobs.find(({ name }) => name === work.key);
      if (job?.outcome?.kind !== 'completed') continue;
      const file = fileOf(work.key, work.fileBytes);
      const wrong = await this.#client.keptOf(job.id, file);
      kept.push({ key: work.key, jobId: job.id, wrong });
    }
    return kept;
  }

  async #evidence(
    copies: CopyTrial[],
    slow: SlowUploads,
    spied: Spied,
  ): Promise<Omit<Evidence, 'steps' | 'calls'>> {
    const { receipts } = this.#worker;
    const { history: all, theirs } = splitHistory(await this.#client.history());
    const pools = new Set(all.jobs.filter(({ name }) => name === POOL).map(({ id }) => id));
    const history = {
      jobs: all.jobs.filter(({ id }) => !pools.has(id)),
      tasks: all.tasks.filter(({ jobId }) => !pools.has(jobId)),
    };
    const files = readdirSync(receipts).map((file) => readFileSync(join(receipts, file), 'utf8'));
    return {
      accepted: this.#accepted,
      lives: livesOf(files),
      ...history,
      restores: this.#restores,
      clones: this.#clones,
      copies,
      slow,
      spied,
      kept: await this.#kept(history),
      lacked: this.#client.lacked,
      site: this.#site?.evidence(theirs) ?? null,
      stops: this.stops.stops,
      outages: this.outages,
      stalls: this.#stalls.end(),
      setAside: this.#setAside,
      cpusPerHost: CPUS,
      killGraceMs: TIMING.settings.killGraceMs,
    };
  }
}
