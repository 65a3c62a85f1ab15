// One simulated cluster: boots the real head and agent shells on simulated ports, owns the ground
// truth, and runs storm, healing and the wait for everything to end, checking after every event.

import { crc32 } from 'node:zlib';
import { explainTask } from '../src/core/controller/answers/questions.ts';
import { sumOf } from '../src/core/runner/books.ts';
import { decodeEntry } from '../src/head/journal.ts';
import type { CommandEnd, Commands } from '../src/ports/commands.ts';
import type { Log } from '../src/ports/log.ts';
import type { Dialer } from '../src/ports/net.ts';
import type { Commit } from '../src/ports/store.ts';
import { decode, encode } from '../src/wire/codec.ts';
import { BatchesTruth } from './batch-truth.ts';
import { BatchWork } from './batch-work.ts';
import { Booking } from './booking.ts';
import type { BuildStep } from './builds.ts';
import { type Canary, NO_CANARY, type Planted } from './canary.ts';
import { Streams } from './chance.ts';
import { BuildWatch, checkBatchEvent, checkBatches } from './checkers/batches.ts';
import { checkAccepted, checkBooks, checkFinal, checkOutcome } from './checkers/belief.ts';
import { checkArchives, checkInputs, checkOutputs, currentEpoch } from './checkers/files.ts';
import { checkRepairs, openRepairs } from './checkers/goals.ts';
import { LateCancels } from './checkers/late-cancels.ts';
import { checkOutput, leftBehind, openJobs, StartWatch } from './checkers/liveness.ts';
import { PauseWatch } from './checkers/pauses.ts';
import { PlanWatch } from './checkers/plans.ts';
import { checkReplay } from './checkers/replay.ts';
import {
  BUILD_MS_MAX,
  checkEvent,
  checkStart,
  checkWalltimes,
  type SafetyWorld,
} from './checkers/safety.ts';
import { Client } from './client.ts';
import { type Life, SimClock, Time } from './clock.ts';
import { dialerOf, dialTo } from './dial.ts';
import { GoalWork } from './goals/goal-work.ts';
import { HeadHost } from './head-host.ts';
import { LaterWork } from './later-work.ts';
import { Machine } from './machine.ts';
import { type Delivery, Link } from './net.ts';
import { PauseWork } from './pause-work.ts';
import { NOTIFY_RULES, Post } from './post.ts';
import type { SimProcess } from './process.ts';
import { drawSite, plainSite, type Site } from './site.ts';
import { SiteWork } from './site-work.ts';
import { StepLog } from './steps.ts';
import { Storm } from './storm.ts';
import { placeOf, Truth } from './truth.ts';
import { asViolation, Violation } from './violation.ts';
import { BEFORE, drawWeather, type Weather } from './weather.ts';
import { drawMachines, Workload } from './workload.ts';

export interface RunOptions {
  readonly seed: number;
  readonly canary?: Canary | undefined;
  /** Instead of what the seed draws. */
  readonly weather?: Partial<Weather> | undefined;
  readonly trace?: ((line: string) => void) | undefined;
}

/** Once all is well, at least one task ends in this time, or everything has. */
const LIVENESS_MS = 600_000;
const PERIOD_MS = 1000;
const WATCH_MS = 500;
const TIDY_MS = 5000;
/** More than this without time passing is a loop. */
const EVENTS_PER_INSTANT_MAX = 20_000;
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
  readonly workload: Workload;
  hash = 0;
  messages = 0;
  violation: Violation | null = null;
  readonly #trace: RunOptions['trace'];
  readonly #steps: StepLog;
  readonly #site: Site;
  readonly #siteWork: SiteWork;
  readonly #laterWork: LaterWork;
  readonly #batchWork: BatchWork;
  readonly #builds = new BuildWatch(this.truth, this.batches);
  readonly #pauseWork: PauseWork;
  readonly #goals: GoalWork;
  readonly #pauses: PauseWatch;
  readonly #plans = new PlanWatch();
  readonly #storm: Storm;
  readonly #safety: SafetyWorld;
  readonly #planted: Planted;
  #checked = 0;

  constructor(options: RunOptions) {
    const streams = new Streams(options.seed);
    this.streams = streams;
    this.#trace = options.trace;
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
        this.#guard(() => {
          this.#plans.before(step, event, first);
          checkRepairs(step, event);
        });
      },
      after: (step, event) => this.#guard(() => this.#plans.after(step, event)),
    });
    const makes = drawMachines(streams.under('machine'), this.weather);
    const links = this.#makeLinks(makes);
    const names = makes.map(({ name }) => name);
    const { policy } = this.weather;
    this.#site = this.weather.isPlain
      ? plainSite(policy)
      : drawSite(streams.under('site'), policy, names);
    this.post = this.#makePost();
    this.#goals = new GoalWork({
      ...{ time: this.time, streams: streams.under('goals'), machines: () => this.machines },
      ...{ goalMs: this.weather.goalMs, log: this.#log('goals'), note: (text) => this.note(text) },
    });
    this.host = this.#makeHost([...links.values()].map(({ link }) => link));
    this.machines = [...links.values()].map(({ link, make }) => this.#makeMachine(make, link));
    const { time, truth, host, machines, weather } = this;
    const note = (text: string): void => this.note(text);
    const headNow = (): number => new SimClock(time, host.life, host.skew).now();
    const { lostAnswers } = weather;
    const client = new Client({ time, host, lostAnswers, streams: streams.under('client') });
    const common = { time, client, weather, headNow, truth, note };
    const booking = new Booking({ client, machines, truth, headNow });
    this.#siteWork = new SiteWork({
      ...{ time, client, weather, host, booking, headNow, site: this.#site },
      streams: streams.under('site work'),
    });
    this.#laterWork = new LaterWork({
      ...common,
      streams: streams.under('later work'),
      partitions: Object.keys(this.#site.base.partitions),
    });
    this.#batchWork = new BatchWork({
      ...{
        time,
        client,
        weather,
        machines,
        note,
        truth: this.batches,
        wishes: () => this.post.wishes(weather.notify, streams.of('notify batches')),
      },
      streams: streams.under('batches'),
    });
    this.#pauseWork = new PauseWork({ ...common, machines, streams: streams.under('pauses') });
    this.#pauses = new PauseWatch({
      ...{ truth, machines, allowed: this.#pauseWork.allowed },
      ...{ killGraceMs: weather.killGraceMs, now: () => time.now },
    });
    const wishes = () => ({
      ...this.#siteWork.wishes(),
      ...this.#laterWork.wishes(),
      ...this.post.wishes(weather.notify, streams.of('notify')),
    });
    const work = { ...common, machines, wishes, streams: streams.under('work') };
    this.workload = new Workload(work);
    this.#safety = {
      ...{ truth, killGraceMs: weather.killGraceMs, now: () => time.now },
      machines: new Map(machines.map((machine) => [machine.name as string, machine])),
    };
    const plain = new Map([...links].map(([name, { link }]) => [name, link]));
    const storm = { time, host, machines, note, links: plain, streams: streams.under('storm') };
    const onWiped = ({ name }: Machine): void => {
      truth.wiped(name);
      this.#builds.wiped(name);
    };
    this.#storm = new Storm({ ...storm, onWiped }, weather);
  }

  /** Never rejects: how it went is in `violation`. */
  async run(): Promise<void> {
    try {
      this.host.boot();
      for (const machine of this.machines) machine.powerOn();
      this.workload.start();
      this.#siteWork.start();
      this.#laterWork.start();
      this.#batchWork.start();
      this.#pauseWork.start();
      this.#goals.start();
      this.#watch();
      await this.#until(this.weather.stormMs);
      this.note('everything is healed');
      this.workload.stop();
      this.#siteWork.stop();
      this.#laterWork.stop();
      this.#batchWork.stop();
      this.#pauseWork.stop();
      this.#goals.stop();
      this.#storm.heal();
      this.post.isHealed = true;
      await this.#untilQuiet();
    } catch (error) {
      this.fail(error);
    } finally {
      this.host.life.alive = false;
      for (const machine of this.machines) machine.leave();
      this.#steps.close();
      this.#planted.remove?.();
    }
  }

  /** The first failure counts; what follows is its consequence. */
  fail(error: unknown): void {
    if (this.violation !== null) return;
    this.violation = asViolation(error);
    this.note(`${this.violation.rule}: ${this.violation.message}`);
  }

  note(text: string): void {
    this.hash = crc32(`${this.time.now} ${text}`, this.hash);
    this.#trace?.(`${(this.time.now / 1000).toFixed(4).padStart(10)}  ${text}`);
  }

  async #until(instant: number): Promise<void> {
    let since = this.time.now;
    let here = 0;
    while (this.violation === null && this.time.step(instant)) {
      here = this.time.now === since ? here + 1 : 0;
      since = this.time.now;
      if (here > EVENTS_PER_INSTANT_MAX) throw new Violation('crash', 'time stands still');
      // All promises that this event has settled run before the next one.
      await new Promise<void>((resolve) => setImmediate(resolve));
      this.#afterEvent();
    }
    if (this.violation !== null) throw this.violation;
  }

  #afterEvent(): void {
    if (this.#steps.emitted === this.#checked) return;
    this.#checked = this.#steps.emitted;
    this.#plans.settle();
    const { engine } = this.host;
    if (engine !== null && engine.failure === null) checkBooks({ head: engine.state });
  }

  async #untilQuiet(): Promise<void> {
    const { time, host, machines, truth, workload } = this;
    const starts = new StartWatch();
    let progress = { tasks: truth.endedTasks, at: time.now };
    let tidyAt = 0;
    while (time.now < progress.at + LIVENESS_MS) {
      if (truth.endedTasks > progress.tasks) progress = { tasks: truth.endedTasks, at: time.now };
      if (time.now >= tidyAt) {
        workload.tidyUp();
        this.#siteWork.tidyUp();
        tidyAt = time.now + TIDY_MS;
      }
      await this.#until(time.now + PERIOD_MS);
      const { engine } = host;
      if (engine === null || engine.failure !== null) continue;
      starts.look(engine);
      const isAnswered = workload.unanswered.size + this.#batchWork.unanswered.size === 0;
      const isQuiet = isAnswered && this.post.isAllTold && openJobs(truth).length === 0;
      const left = [...leftBehind(truth, machines, engine.state), ...openRepairs(engine.state)];
      if (isQuiet && left.length === 0) return this.#atEnd();
    }
    throw this.#whyNotQuiet();
  }

  #whyNotQuiet(): Violation {
    const unanswered = new Set([...this.workload.unanswered, ...this.#batchWork.unanswered]);
    const open = openJobs(this.truth);
    if (unanswered.size > 0) return new Violation('L2', `no answer to ${[...unanswered]}`);
    if (open.length > 0) {
      return new Violation('L1', `jobs never end: ${open.slice(0, 10)}; ${this.#explain()}`);
    }
    const state = this.host.engine?.state ?? null;
    const repairs = state === null ? [] : openRepairs(state);
    const left = [...leftBehind(this.truth, this.machines, state), ...repairs];
    return new Violation('L3', `left behind: ${left.slice(0, 10).join(', ')}`);
  }

  /** What the head says of the first task that waits. */
  #explain(): string {
    const { engine } = this.host;
    for (const job of engine?.state.jobs.values() ?? []) {
      const index = job.entry.pending.first;
      if (job.outcome !== null || engine === null) continue;
      if (index !== undefined)
        return `${job.id}: ${JSON.stringify(explainTask(engine, job, index))}`;
      for (const task of job.active.values()) return `${task.id} is ${task.state}`;
    }
    return 'nothing is open to the head';
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
    this.time.after(WATCH_MS, () => {
      checkWalltimes(this.#safety);
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
    const { nodeTimeoutMs, heartbeatMs, killGraceMs, commitMs } = this.weather;
    const { retainedJobsMax, looksMax } = this.weather;
    const scheduling = this.#site.base;
    const perNode = { cpuCount: 1, memoryBytes: 0, gpuCount: 0, counted: {} };
    const defaults = { nodeCount: 1, processesPerNode: 1, perNode, walltimeMs: null };
    const core = {
      nodeTimeoutMs,
      killGraceMs,
      crashLimit: 3,
      defaults,
      scheduling,
      retainedJobsMax,
      archiveDefaultBytes: 64 * 1_048_576,
      buildMsMax: BUILD_MS_MAX,
      ...(this.weather.notify === null ? {} : { notify: NOTIFY_RULES }),
    };
    return new HeadHost({
      ...{ time: this.time, streams: this.streams.under('head'), commitMs, log: this.#log('head') },
      settings: {
        ...{ settings: core, heartbeatMs, tickMs: PERIOD_MS, logBytesMax: 1_000_000 },
        ...(looksMax === null ? {} : { looksMax }),
      },
      note: (text) => this.note(text),
      notifiersOf: this.weather.notify === null ? null : (life) => this.post.notifiersOf(life),
      fence: this.#makeFence(this.streams.under('fence')),
      onGone: () => {
        for (const link of links) link.sideGone('head', true);
      },
      onCrash: (host) => this.#guard(() => this.#checkReplay(host)),
      onBooted: (host) => {
        this.post.booted();
        this.#goals.booted(host);
        this.#guard(() => this.#checkHead(host));
      },
      onDurable: (host, commit) => this.#guard(() => this.#learn(host, commit)),
      wrapStore: (store) => this.#planted.wrapStore?.(store) ?? store,
      wrapSession: (session) => this.#planted.wrapSession?.(session) ?? session,
    });
  }

  #makePost(): Post {
    const { time, truth, batches, weather } = this;
    return new Post({
      ...{ time, truth, batches, streams: this.streams.under('post') },
      note: (text) => this.note(text),
      engine: () => this.host.engine,
      guard: (check) => this.#guard(check),
      jumpMs: weather.clockJumpMs === null ? 0 : 20_000,
    });
  }

  /** A power switch that answers after a while; what it has switched off is on again later. */
  #makeFence(streams: Streams): Commands | null {
    const { time, weather } = this;
    const { fenceSuccess } = weather;
    if (fenceSuccess === null) return null;
    const run: Commands['run'] = async ({ argv }): Promise<CommandEnd> => {
      const node = argv[0] ?? '';
      const dice = streams.of(node);
      await new Promise<void>((resolve) => time.after(dice.whole(100, 5000), resolve));
      const machine = this.machines.find(({ name }) => name === node);
      const said = { output: '', errors: '', isThere: () => false };
      if (machine === undefined || !dice.happens(fenceSuccess)) {
        return { succeeded: false, code: 1, how: 'no', ...said };
      }
      this.note(`${node} is fenced`);
      machine.powerOff(false);
      time.after(dice.whole(1, 20_000), () => machine.powerOn());
      return { succeeded: true, code: 0, how: 'yes', ...said };
    };
    return { run };
  }

  #makeMachine(make: Machine['make'], link: Link): Machine {
    const { time } = this;
    const streams = this.streams.under(`machine ${make.name}`);
    return new Machine(make, {
      ...{ time, link, streams, log: this.#log(make.name), note: (text) => this.note(text) },
      dialer: (machine, life) => this.#dialer(machine, link, life),
      onProcess: (what, process) => this.#guard(() => this.#onProcess(what, process)),
      onWrite: (process, text) => this.truth.wrote(process, text),
      onOutput: (process, name) => this.truth.left(process, name),
      onBuild: (what, process) => this.#guard(() => this.#onBuild(what, process)),
      runScript: (node, text) => this.#goals.drift.run(node, text),
      dialFiles: (machine, life) => {
        const { name } = machine;
        const of = { time, link, life, host: this.host, name };
        return dialTo(of, (session) => this.host.acceptFiles(session, name));
      },
      wrapPorts: (ports) => this.#planted.wrapPorts?.(ports) ?? ports,
    });
  }

  #dialer(machine: Machine, link: Link, life: Life): Dialer {
    return dialerOf({ time: this.time, link, life, host: this.host, name: machine.name });
  }

  /** A failed check inside somebody's callback must not be taken for an error of theirs. */
  #guard(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.fail(error);
    }
  }

  #onProcess(what: 'start' | 'end', process: SimProcess): void {
    const { epochId, rank } = placeOf(process);
    const words = process.isLeftover ? 'leaves a process behind' : what;
    const how = what === 'end' ? ` ${JSON.stringify(process.exit)}` : '';
    this.note(`${process.node}: ${epochId} rank ${rank} ${words}${how}`);
    if (what === 'end') {
      this.truth.ended(process);
      return;
    }
    checkStart(this.#safety, process);
    checkInputs(this.#safety, process);
    this.truth.started(process);
  }

  #onBuild(what: BuildStep, process: SimProcess): void {
    this.note(`${process.node}: ${placeOf(process).epochId} build ${what}`);
    this.#builds.on(what, process);
  }

  /** A record is durable: it is judged, and then true. */
  #learn(host: HeadHost, commit: Commit): void {
    const steps = decodeEntry(commit.seq, commit.bytes);
    if (host.engine !== null) this.#steps.noteDurable(host.engine.state, steps.length);
    for (const { at, events } of steps) {
      for (const event of events) {
        this.note(`record ${commit.seq}: ${this.#trace ? JSON.stringify(event) : event.kind}`);
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
    checkAccepted(this.workload.accepted, engine.state, host.disk);
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
    const { direction, bytes, again, hand } = delivery;
    this.messages += 1;
    this.note(`${link.node} ${direction} ${this.#wordsOf(bytes)}${again ? ' again' : ''}`);
    if (!again) return hand();
    const before = this.#sumOf(link, delivery);
    hand();
    if (this.#sumOf(link, delivery) === before) return;
    throw new Violation('S7', `${link.node} ${direction}: the same message again has an effect`);
  }

  /** Changes exactly when the receiver has decided something. */
  #sumOf(link: Link, { direction }: Delivery): number {
    if (direction === 'to_head') return this.#steps.emitted;
    const agent = this.machines.find(({ name }) => name === link.node)?.agent;
    return agent == null ? 0 : crc32(encode(sumOf(agent.state)));
  }

  #wordsOf(bytes: Uint8Array): string {
    if (this.#trace === undefined) return crc32(bytes).toString(16);
    const message = decode(bytes);
    return message.ok ? JSON.stringify(message.value) : message.error;
  }

  #log(who: string): Log {
    const say =
      (level: string) =>
      (fields: object, message: string): void =>
        this.#trace?.(`            ${who} ${level}: ${message} ${JSON.stringify(fields)}`);
    return { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
  }
}
