// One simulated cluster: boots the real head and agent shells on simulated ports, owns the ground
// truth, and runs storm, healing and the wait for everything to end, checking after every event.

import { decodeEntry } from '../src/kernel/head/journal.ts';
import type { Dialer } from '../src/kernel/ports/net.ts';
import type { Commit } from '../src/kernel/ports/store.ts';
import { lookAt } from './agent-look.ts';
import { BatchesTruth } from './batch-truth.ts';
import type { BuildStep } from './builds.ts';
import { type Canary, NO_CANARY, type Planted } from './canary.ts';
import { Streams } from './chance.ts';
import { BuildWatch, checkBatchEvent, checkBatches } from './checkers/batches.ts';
import { checkAccepted, checkBooks, checkFinal, checkOutcome } from './checkers/belief.ts';
import { checkArchives, checkInputs, checkOutputs, currentEpoch } from './checkers/files.ts';
import { checkRepairs, openRepairs } from './checkers/goals.ts';
import { LateCancels } from './checkers/late-cancels.ts';
import { checkOutput, leftBehind, openJobs, StartWatch, whyOpen } from './checkers/liveness.ts';
import { PauseWatch } from './checkers/pauses.ts';
import { PlanWatch } from './checkers/plans.ts';
import { checkReplay, checkTaken } from './checkers/replay.ts';
import {
  BUILD_MS_MAX,
  checkEvent,
  checkStart,
  checkWalltimes,
  type SafetyWorld,
} from './checkers/safety.ts';
import { Chronicle } from './chronicle.ts';
import { Client } from './client.ts';
import { type Life, SimClock, Time } from './clock.ts';
import { CloneWork } from './clones.ts';
import { dialerOf, dialTo } from './dial.ts';
import type { RunRequest } from './family.ts';
import { powerSwitch } from './fence.ts';
import { GoalWork } from './goals/goal-work.ts';
import { HeadHost } from './head-host.ts';
import { headSettings, PERIOD_MS } from './head-settings.ts';
import { Machine } from './machine.ts';
import { type Delivery, Link } from './net.ts';
import { NOTIFY_RULES, Post } from './post.ts';
import type { SimProcess } from './process.ts';
import { drawSite, plainSite, type Site } from './site.ts';
import { StepLog } from './steps.ts';
import { Storm } from './storm.ts';
import { placeOf, Truth } from './truth.ts';
import { Violation } from './violation.ts';
import { BEFORE, drawWeather, slowness, type Weather } from './weather.ts';
import { drawMachines } from './workload.ts';
import { Works } from './works.ts';

export type RunOptions = RunRequest<Canary, Weather>;

/** Once all is well, at least one task ends in this time, or everything has. */
const LIVENESS_MS = 600_000;
const WATCH_MS = 500;
/** Rarer than other looks: a snapshot that changes stays changed, and each look costs much. */
const LOOKS_PER_TAKEN = 4;
const TIDY_MS = 5000;
const DUPLICATES = 0.05;

export class World {
  readonly weather: Weather;
  readonly streams: Streams;
  readonly time = new Time();
  readonly truth = new Truth();
  readonly batches = new BatchesTruth();
  readonly #lateCancels = new LateCancels();
  readonly machines: readonly Machine[];
  readonly host: HeadHost;
  readonly post: Post;
  readonly chronicle: Chronicle;
  messages = 0;
  readonly #steps: StepLog;
  readonly #site: Site;
  readonly #works: Works;
  readonly #builds = new BuildWatch(this.truth, this.batches);
  readonly #goals: GoalWork;
  readonly #pauses: PauseWatch;
  readonly #plans = new PlanWatch();
  readonly #storm: Storm;
  readonly #clones: CloneWork;
  readonly #safety: SafetyWorld;
  readonly #planted: Planted;
  #checked = 0;
  #looks = 0;

  constructor(options: RunOptions) {
    const { pace = 1 } = options.weather ?? {};
    const streams = new Streams(options.seed, '', pace);
    this.streams = streams;
    this.chronicle = new Chronicle(this.time, options.trace);
    this.weather = {
      ...drawWeather(streams.under('weather')),
      ...(options.canary === undefined ? {} : BEFORE),
      ...options.weather,
      ...options.canary?.weather,
    };
    this.#planted = (options.canary ?? NO_CANARY).plant(this);
    // After the canary, so that what a canary does to steps is seen as well.
    this.#steps = new StepLog({
      before: (step, event, first) => {
        this.chronicle.guard(() => {
          this.#plans.before(step, event, first);
          checkRepairs(step, event);
        });
      },
      after: (step, event) => this.chronicle.guard(() => this.#plans.after(step, event)),
    });
    const makes = drawMachines(streams.under('machine'), this.weather);
    const links = this.#makeLinks(makes);
    const names = makes.map(({ name }) => name);
    this.#site = this.weather.isPlain
      ? plainSite(this.weather.policy)
      : drawSite(streams.under('site'), this.weather, names);
    this.post = this.#makePost();
    this.#goals = new GoalWork({
      time: this.time,
      streams: streams.under('goals'),
      machines: () => this.machines,
      goalMs: this.weather.goalMs,
      log: this.chronicle.log('goals'),
      note: this.chronicle.note,
      wrapEngine: (engine) => this.#planted.goalEngine?.(engine) ?? engine,
    });
    this.host = this.#makeHost([...links.values()].map(({ link }) => link));
    this.machines = [...links.values()].map(({ link, make }) => this.#makeMachine(make, link));
    const { time, truth, host, machines, weather } = this;
    const { note } = this.chronicle;
    // What people say in dates is by their own watches.
    const headNow = (): number =>
      new SimClock(time, host.life, host.skew).now() - (host.skew.misplacedMs ?? 0);
    const { lostAnswers } = weather;
    const client = new Client({ time, host, lostAnswers, streams: streams.under('client') });
    this.#works = new Works({
      time,
      streams,
      client,
      weather,
      host,
      machines,
      truth,
      headNow,
      note,
      batches: this.batches,
      post: this.post,
      site: this.#site,
    });
    this.#pauses = new PauseWatch({
      truth,
      machines,
      allowed: this.#works.pauseWork.allowed,
      killGraceMs: weather.killGraceMs,
      now: () => time.now,
    });
    this.#safety = {
      truth,
      killGraceMs: weather.killGraceMs,
      now: () => time.now,
      machines: new Map(machines.map((machine) => [machine.name as string, machine])),
    };
    const plain = new Map([...links].map(([name, { link }]) => [name, link]));
    const storm = { time, host, machines, note, links: plain, streams: streams.under('storm') };
    const onWiped = ({ name }: Machine): void => {
      truth.wiped(name);
      this.#builds.wiped(name);
    };
    this.#storm = new Storm({ ...storm, onWiped }, weather);
    this.#clones = new CloneWork({
      time,
      client,
      host,
      machines,
      weather,
      streams: streams.under('clones'),
      copy: (of, number) => this.#copyOf(of, number),
    });
  }

  /** Never rejects: how it went is in the chronicle. */
  run(): Promise<void> {
    return this.chronicle.watch(() => this.#run());
  }

  async #run(): Promise<void> {
    try {
      this.host.boot();
      for (const machine of this.machines) machine.powerOn();
      this.#works.start();
      this.#goals.start();
      this.#clones.start();
      this.#watch();
      await this.#until(this.weather.pace * this.weather.stormMs);
      this.chronicle.note('everything is healed');
      this.#works.stop();
      this.#goals.stop();
      this.#clones.heal();
      this.#storm.heal();
      this.post.isHealed = true;
      await this.#untilQuiet();
    } finally {
      this.host.life.alive = false;
      for (const machine of this.machines) machine.leave();
      this.#steps.close();
      this.#planted.remove?.();
    }
  }

  #until(instant: number): Promise<void> {
    return this.chronicle.until(instant, () => this.#afterEvent());
  }

  #afterEvent(): void {
    if (this.#steps.emitted === this.#checked) return;
    this.#checked = this.#steps.emitted;
    this.#plans.settle();
    const { engine } = this.host;
    if (engine !== null && engine.failure === null) checkBooks({ head: engine.state });
  }

  async #untilQuiet(): Promise<void> {
    const { time, host, machines, truth } = this;
    const starts = new StartWatch();
    let progress = { tasks: truth.endedTasks, at: time.now };
    let tidyAt = 0;
    const periodMs = slowness(this.weather) * PERIOD_MS;
    while (time.now < progress.at + this.weather.pace * LIVENESS_MS) {
      if (truth.endedTasks > progress.tasks) progress = { tasks: truth.endedTasks, at: time.now };
      if (time.now >= tidyAt) {
        this.#works.tidyUp();
        tidyAt = time.now + this.weather.pace * TIDY_MS;
      }
      await this.#until(time.now + periodMs);
      const { engine } = host;
      if (engine === null || engine.failure !== null) continue;
      starts.look(engine);
      const isAnswered = this.#works.unanswered.length === 0;
      const isQuiet = isAnswered && this.post.isAllTold && openJobs(truth).length === 0;
      const left = [...leftBehind(truth, machines, engine.state), ...openRepairs(engine.state)];
      if (isQuiet && left.length === 0) return this.#atEnd();
    }
    throw this.#whyNotQuiet();
  }

  #whyNotQuiet(): Violation {
    const { unanswered } = this.#works;
    const open = openJobs(this.truth);
    if (unanswered.length > 0) return new Violation('L2', `no answer to ${unanswered}`);
    if (open.length > 0) {
      return new Violation(
        'L1',
        `jobs never end: ${open.slice(0, 10)}; ${whyOpen(this.host.engine)}`,
      );
    }
    const state = this.host.engine?.state ?? null;
    const repairs = state === null ? [] : openRepairs(state);
    const left = [...leftBehind(this.truth, this.machines, state), ...repairs];
    return new Violation('L3', `left behind: ${left.slice(0, 10).join(', ')}`);
  }

  #atEnd(): void {
    checkOutput(this.truth, this.host.logs);
    checkArchives(this.truth, this.host.files);
    this.post.checkAll();
    this.#checkHead(this.host);
    this.#checkReplay(this.host);
  }

  /** What is judged by time: every so often is often enough. */
  #watch(): void {
    this.time.after(Math.max(1, this.weather.pace / 30) * WATCH_MS, () => {
      checkWalltimes(this.#safety);
      this.#looks += 1;
      const { engine } = this.host;
      if (engine !== null && this.#looks % LOOKS_PER_TAKEN === 0) checkTaken(engine.state);
      this.#pauses.look();
      this.post.look();
      for (const { agent } of this.machines) if (agent !== null) checkBooks({ agent: agent.state });
      this.#watch();
    });
  }

  #makeLinks(makes: readonly Machine['make'][]) {
    const { time, streams } = this;
    const onDelivery = (link: Link, delivery: Delivery) => this.#deliver(link, delivery);
    return new Map(
      makes.map((make) => {
        const own = { streams: streams.under(`net ${make.name}`) };
        const link = new Link(make.name, { time, ...own, duplicates: DUPLICATES, onDelivery });
        return [make.name as string, { make, link }];
      }),
    );
  }

  #makeHost(links: readonly Link[]): HeadHost {
    const { time, streams, chronicle, weather } = this;
    const { nodeTimeoutMs, heartbeatMs, killGraceMs, commitMs, retainedJobsMax } = weather;
    const { notify, looksMax, fenceSuccess: success } = weather;
    const { note } = chronicle;
    const machines = () => this.machines;
    const fence = { time, note, machines, streams: streams.under('fence') };
    return new HeadHost({
      time,
      note,
      commitMs,
      streams: streams.under('head'),
      log: chronicle.log('head'),
      settings: headSettings({
        tickMs: slowness(weather) * PERIOD_MS,
        nodeTimeoutMs,
        heartbeatMs,
        killGraceMs,
        retainedJobsMax,
        scheduling: this.#site.base,
        buildMsMax: BUILD_MS_MAX,
        archiveDefaultBytes: 64 * 1_048_576,
        ...(notify === null ? {} : { notify: NOTIFY_RULES }),
        ...(looksMax === null ? {} : { looksMax }),
      }),
      notifiersOf: notify === null ? null : (life) => this.post.notifiersOf(life),
      fence: success === null ? null : powerSwitch({ ...fence, success }),
      onGone: () => {
        for (const link of links) link.sideGone('head', true);
      },
      onCrash: (host) => this.chronicle.guard(() => this.#checkReplay(host)),
      onBooted: (host) => {
        this.post.booted();
        this.#goals.booted(host);
        this.chronicle.guard(() => this.#checkHead(host));
      },
      onDurable: (host, commit) => this.chronicle.guard(() => this.#learn(host, commit)),
      wrapStore: (store) => this.#planted.wrapStore?.(store) ?? store,
      wrapSession: (session) => this.#planted.wrapSession?.(session) ?? session,
    });
  }

  #makePost(): Post {
    const { time, truth, batches, weather } = this;
    return new Post({
      time,
      truth,
      batches,
      streams: this.streams.under('post'),
      note: this.chronicle.note,
      engine: () => this.host.engine,
      guard: (check) => this.chronicle.guard(check),
      jumpMs: weather.clockJumpMs === null ? 0 : 20_000,
    });
  }

  #makeMachine(make: Machine['make'], link: Link): Machine {
    const { time } = this;
    const isCopy = make.copy !== undefined;
    const streams = this.streams.under(`machine ${make.name}${make.copy?.word ?? ''}`);
    return new Machine(make, {
      time,
      link,
      streams,
      log: this.chronicle.log(make.name),
      note: this.chronicle.note,
      dialer: (machine, life) => this.#dialer(machine, link, life),
      onProcess: (what, process) => {
        this.chronicle.guard(() => this.#onProcess(what, process, isCopy));
      },
      // What a copy has goes with it: nobody can be asked for it.
      onWrite: (process, text) => isCopy || this.truth.wrote(process, text),
      onOutput: (process, name) => isCopy || this.truth.left(process, name),
      onBuild: (what, process) =>
        isCopy || this.chronicle.guard(() => this.#onBuild(what, process)),
      runScript: (node, text) => this.#goals.drift.run(node, text),
      dialFiles: (machine, life) => {
        const { name } = machine;
        const of = { time, link, life, host: this.host, name };
        return dialTo(of, (session) => this.host.acceptFiles(session, name));
      },
      wrapPorts: (ports) => this.#planted.wrapPorts?.(ports) ?? ports,
    });
  }

  #copyOf(of: Machine, number: number): Machine {
    const { time, chronicle } = this;
    const word = `-copy${number}`;
    chronicle.note(`${of.name} is copied: ${of.name}${word}`);
    const onDelivery = (line: Link, delivery: Delivery) => this.#deliver(line, delivery);
    const own = { streams: this.streams.under(`net ${of.name}${word}`) };
    const link = new Link(of.name, { time, ...own, duplicates: DUPLICATES, onDelivery });
    return this.#makeMachine(of.copied(word), link);
  }

  #dialer(machine: Machine, link: Link, life: Life): Dialer {
    return dialerOf({ time: this.time, link, life, host: this.host, name: machine.name });
  }

  #onProcess(what: 'start' | 'end', process: SimProcess, isCopy: boolean): void {
    const { epochId, rank } = placeOf(process);
    const words = process.isLeftover ? 'leaves a process behind' : what;
    const how = what === 'end' ? ` ${JSON.stringify(process.exit)}` : '';
    this.chronicle.note(`${process.node}: ${epochId} rank ${rank} ${words}${how}`);
    if (what === 'end') {
      this.truth.ended(process);
      return;
    }
    checkStart(this.#safety, process);
    if (!isCopy) checkInputs(this.#safety, process);
    this.truth.started(process);
  }

  #onBuild(what: BuildStep, process: SimProcess): void {
    this.chronicle.note(`${process.node}: ${placeOf(process).epochId} build ${what}`);
    this.#builds.on(what, process);
  }

  /** A record is durable: it is judged, and then true. */
  #learn(host: HeadHost, commit: Commit): void {
    const steps = decodeEntry(commit.seq, commit.bytes);
    if (host.engine !== null) this.#steps.noteDurable(host.engine.state, steps.length);
    for (const { at, events } of steps) {
      for (const event of events) {
        this.chronicle.record(commit.seq, event);
        checkEvent(this.#safety, event, at);
        checkBatchEvent(this.batches, event);
        if (event.kind === 'task_requeued')
          host.files.forget(currentEpoch(this.truth, event.place));
        if (event.kind === 'task_done') {
          checkOutcome(this.truth, event);
          checkOutputs(this.truth, host.files, event);
        }
        this.#lateCancels.learn(event);
        this.truth.learn(event, at);
        this.batches.learn(event);
        this.post.learn(event, at);
      }
    }
  }

  #checkHead(host: HeadHost): void {
    const { engine } = host;
    if (engine === null) return;
    checkAccepted(this.#works.workload.accepted, engine.state, host.disk);
    checkFinal(this.truth, engine.state);
    checkBatches(this.batches, engine.state);
  }

  #checkReplay(host: HeadHost): void {
    const { engine, disk } = host;
    // With a failed store memory is about to be thrown away.
    if (engine === null || engine.failure !== null) return;
    checkReplay(engine.state, disk, this.#steps.pending(engine.state));
  }

  #deliver(link: Link, delivery: Delivery): void {
    this.messages += 1;
    this.chronicle.deliver(link, delivery, () => this.#look(link, delivery));
  }

  /** Changes exactly when the receiver has decided something. */
  #look(link: Link, { direction }: Delivery): unknown {
    if (direction === 'to_head') return this.#steps.emitted;
    const agent = this.machines.find(({ name }) => name === link.node)?.agent;
    return agent == null ? null : lookAt(agent.state);
  }
}
