// One simulated cluster with other clusters behind gateways: the real head, real gateways, and batch
// systems with a will of their own. Storm, healing, and the wait for everything to end.

import { crc32 } from 'node:zlib';
import { explainTask } from '../../src/core/controller/answers/questions.ts';
import { isAlive } from '../../src/core/model/maintenance.ts';
import { sumOf } from '../../src/core/runner/books.ts';
import type { Engine } from '../../src/head/engine.ts';
import { decodeEntry } from '../../src/head/journal.ts';
import type { Log } from '../../src/ports/log.ts';
import type { Dialer } from '../../src/ports/net.ts';
import type { Commit } from '../../src/ports/store.ts';
import { decode, encode } from '../../src/wire/codec.ts';
import { Streams } from '../chance.ts';
import { checkAccepted, checkBooks, checkFinal } from '../checkers/belief.ts';
import { ForeignWatch } from '../checkers/foreign.ts';
import { openJobs } from '../checkers/liveness.ts';
import { checkReplay } from '../checkers/replay.ts';
import { Client, operator } from '../client.ts';
import { type Life, Time } from '../clock.ts';
import { dialerOf } from '../dial.ts';
import { HeadHost } from '../head-host.ts';
import type { Machine } from '../machine.ts';
import { type Delivery, Link } from '../net.ts';
import { plainSite } from '../site.ts';
import { StepLog } from '../steps.ts';
import { Truth } from '../truth.ts';
import { asViolation, Violation } from '../violation.ts';
import { type ForeignCanary, NO_FOREIGN_CANARY, type PlantedForeign } from './canary.ts';
import { OWN_NODE, ownNode, ProbeWatch } from './own-node.ts';
import { People } from './people.ts';
import { Site } from './site.ts';
import { ForeignStorm } from './storm.ts';
import type { ForeignSystem } from './system.ts';
import { drawForeignWeather, type ForeignWeather } from './weather.ts';

export interface ForeignRunOptions {
  readonly seed: number;
  readonly canary?: ForeignCanary | undefined;
  readonly weather?: Partial<ForeignWeather> | undefined;
  readonly trace?: ((line: string) => void) | undefined;
}

export interface ForeignRunResult {
  readonly seed: number;
  readonly weather: ForeignWeather;
  readonly hash: string;
  readonly virtualMs: number;
  readonly jobs: number;
  readonly violation: Violation | null;
}

/** Once all is well, at least one task ends in this time, or everything has. */
const LIVENESS_MS = 600_000;
const PERIOD_MS = 1000;
const WATCH_MS = 500;
const TIDY_MS = 5000;
const EVENTS_PER_INSTANT_MAX = 20_000;
const DUPLICATES = 0.05;

class ForeignWorld {
  readonly weather: ForeignWeather;
  readonly time = new Time();
  readonly truth = new Truth();
  violation: Violation | null = null;
  hash = 0;
  readonly #streams: Streams;
  readonly #trace: ForeignRunOptions['trace'];
  readonly #systems = new Map<string, ForeignSystem>();
  readonly #links = new Map<string, Link>();
  readonly #watch: ForeignWatch;
  readonly #probes: ProbeWatch;
  readonly #steps: StepLog;
  readonly #host: HeadHost;
  readonly #own: Machine;
  readonly #sites: Site[];
  readonly #people: People;
  readonly #storm: ForeignStorm;
  readonly #planted: PlantedForeign;
  readonly #client: Client;
  #checked = 0;

  constructor({ seed, canary = NO_FOREIGN_CANARY, weather, trace }: ForeignRunOptions) {
    const streams = new Streams(seed, 'foreign ');
    this.#streams = streams;
    this.#trace = trace;
    const drawn = drawForeignWeather(streams.under('weather'));
    this.weather = { ...drawn, ...weather, ...canary.weather };
    const { time, truth } = this;
    this.#planted = canary.plant({
      ...{ time, systems: this.#systems },
      isSilent: () => this.#sites.some(({ line }) => time.now < line.silentUntil),
    });
    this.#steps = new StepLog({ before: () => undefined, after: () => undefined });
    const guard = (check: () => void): void => this.#guard(check);
    this.#watch = new ForeignWatch({ truth, systems: this.#systems, guard });
    this.#probes = new ProbeWatch(truth, this.weather.commitMs.max);
    this.#host = this.#makeHost();
    this.#own = ownNode({
      ...{ time, streams: streams.under('own'), log: this.#log('own'), link: this.#link(OWN_NODE) },
      note: (text) => this.note(text),
      dialerOf: (node, link, life) => this.#dialer(node, link, life),
      onProcess: (what, process) =>
        what === 'start' ? truth.started(process) : truth.ended(process),
    });
    this.#sites = this.#makeSites();
    const note = (text: string): void => this.note(text);
    const client = { time, host: this.#host, lostAnswers: 0.02, streams: streams.under('client') };
    this.#client = new Client(client);
    const common = { time, note, sites: this.#sites };
    this.#people = new People({
      ...{ ...common, truth, client: this.#client, weather: this.weather },
      streams: streams.under('people'),
    });
    this.#storm = new ForeignStorm(
      {
        ...{ ...common, host: this.#host, streams: streams.under('storm') },
        onGatewayGone: (site) => this.#watch.gatewayGone(site),
      },
      this.weather,
    );
  }

  async run(): Promise<void> {
    try {
      this.#host.boot();
      this.#own.powerOn();
      for (const { gateway } of this.#sites) gateway.boot();
      this.#enroll();
      this.#people.start();
      this.#look();
      await this.#until(this.weather.stormMs);
      this.note('everything is healed');
      this.#people.stop();
      this.#storm.heal();
      await this.#untilQuiet();
    } catch (error) {
      this.fail(error);
    } finally {
      this.#host.life.alive = false;
      this.#own.leave();
      for (const { gateway } of this.#sites) gateway.leave();
      this.#steps.close();
      this.#planted.remove?.();
    }
  }

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
    let [since, here] = [this.time.now, 0];
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
    const { engine } = this.#host;
    if (engine !== null && engine.failure === null) checkBooks({ head: engine.state });
  }

  async #untilQuiet(): Promise<void> {
    const { time, truth } = this;
    let progress = { tasks: truth.endedTasks, at: time.now };
    let tidyAt = 0;
    while (time.now < progress.at + LIVENESS_MS) {
      if (truth.endedTasks > progress.tasks) progress = { tasks: truth.endedTasks, at: time.now };
      if (time.now >= tidyAt) {
        this.#people.tidyUp();
        tidyAt = time.now + TIDY_MS;
      }
      await this.#until(time.now + PERIOD_MS);
      if (this.#why() === null) return this.#atEnd();
    }
    throw this.#why() ?? new Violation('L1', 'it has just become quiet');
  }

  /** Null: everything has ended, and nothing is left. */
  #why(): Violation | null {
    const { engine } = this.#host;
    if (engine === null || engine.failure !== null) return new Violation('L1', 'the head is down');
    const { unanswered } = this.#people;
    if (unanswered.size > 0) return new Violation('L2', `no answer to ${[...unanswered]}`);
    // First: where a node is kept from jobs, some of them never end.
    const other = this.#sites.flatMap((site) => site.notAsTheyWere());
    if (other.length > 0) return new Violation('X5', other.join(', '));
    const open = openJobs(this.truth);
    if (open.length > 0) {
      return new Violation('L1', `jobs never end: ${open.slice(0, 10)}; ${whyOpen(engine)}`);
    }
    const left = this.#sites.flatMap((site) => site.left());
    for (const node of engine.state.nodes.values()) {
      for (const epochId of node.holding.keys()) left.push(`${epochId} holds ${node.name}`);
    }
    const alive = [...engine.state.maintenances.values()].filter(isAlive);
    left.push(...alive.map(({ id, phase }) => `maintenance ${id} is ${phase}`));
    if (left.length === 0) return null;
    return new Violation('L3', `left behind: ${left.slice(0, 10).join(', ')}`);
  }

  #atEnd(): void {
    this.#checkHead(this.#host);
    this.#checkReplay(this.#host);
  }

  #look(): void {
    this.time.after(WATCH_MS, () => {
      const { unanswered } = this.#people;
      this.#guard(() => this.#probes.look(this.#host, unanswered, this.time.now));
      for (const { gateway } of this.#sites) {
        for (const agent of gateway.agents) checkBooks({ agent: agent.state });
      }
      this.#look();
    });
  }

  #enroll(): void {
    for (const node of [OWN_NODE, ...this.#sites.map(({ name }) => name)]) {
      const how = { secretHash: `of ${node}`, resources: null, labels: [], replace: true };
      this.#client.ask({ kind: 'enroll_node', node, ...how }, operator('alice'), () => undefined);
    }
  }

  #makeSites(): Site[] {
    const { time, weather } = this;
    const own = this.#streams.under('sites');
    const modes = [weather.mode, ...(own.of('two').happens(0.3) ? ['submit' as const] : [])];
    return modes.map((mode, at) => {
      const name = `s${at + 1}`;
      const site = new Site(name, mode, {
        ...{ time, weather, watch: this.#watch, streams: own.under(name) },
        note: (text) => this.note(text),
        log: (who) => this.#log(who),
        linkOf: (node) => this.#link(node),
        dialerOf: (node, link, life) => this.#dialer(node, link, life),
        wrapAdaptor: (adaptor) => this.#planted.wrapAdaptor?.(adaptor) ?? adaptor,
      });
      this.#systems.set(name, site.system);
      return site;
    });
  }

  #link(node: string): Link {
    const known = this.#links.get(node);
    if (known !== undefined) return known;
    const { time } = this;
    const onDelivery = (one: Link, delivery: Delivery): void => this.#deliver(one, delivery);
    const streams = this.#streams.under(`net ${node}`);
    const link = new Link(node, { time, streams, duplicates: DUPLICATES, onDelivery });
    this.#links.set(node, link);
    return link;
  }

  #dialer(name: string, link: Link, life: Life): Dialer {
    return dialerOf({ time: this.time, link, life, host: this.#host, name });
  }

  #makeHost(): HeadHost {
    const { nodeTimeoutMs, heartbeatMs, commitMs } = this.weather;
    const perNode = { cpuCount: 1, memoryBytes: 0, gpuCount: 0, counted: {} };
    const core = {
      ...{ nodeTimeoutMs, killGraceMs: 3000, crashLimit: 3 },
      defaults: { nodeCount: 1, processesPerNode: 1, perNode, walltimeMs: null },
      ...{ scheduling: plainSite('easy').base, retainedJobsMax: 10_000 },
      ...{ archiveDefaultBytes: 1_048_576, buildMsMax: 60_000 },
    };
    const streams = this.#streams.under('head');
    return new HeadHost({
      ...{ time: this.time, streams, commitMs, log: this.#log('head') },
      settings: { settings: core, heartbeatMs, tickMs: PERIOD_MS, logBytesMax: 1_000_000 },
      note: (text) => this.note(text),
      notifiersOf: null,
      fence: null,
      onGone: () => {
        for (const link of this.#links.values()) link.sideGone('head', true);
      },
      onCrash: (host) => this.#guard(() => this.#checkReplay(host)),
      onBooted: (host) => this.#guard(() => this.#checkHead(host)),
      onDurable: (host, commit) => this.#guard(() => this.#learn(host, commit)),
      wrapStore: (store) => store,
      wrapSession: (session) => session,
    });
  }

  #guard(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.fail(error);
    }
  }

  /** A record is durable: it is judged, and then true. */
  #learn(host: HeadHost, commit: Commit): void {
    const steps = decodeEntry(commit.seq, commit.bytes);
    if (host.engine !== null) this.#steps.noteDurable(host.engine.state, steps.length);
    for (const { at, events } of steps) {
      for (const event of events) {
        this.note(`record ${commit.seq}: ${this.#trace ? JSON.stringify(event) : event.kind}`);
        this.#watch.onEvent(event);
        this.truth.learn(event, at);
      }
    }
  }

  #checkHead({ engine, disk }: HeadHost): void {
    if (engine === null) return;
    checkAccepted(this.#people.accepted, engine.state, disk);
    checkFinal(this.truth, engine.state);
  }

  #checkReplay({ engine, disk }: HeadHost): void {
    if (engine === null || engine.failure !== null) return;
    checkReplay(engine.state, disk, this.#steps.pending(engine.state));
  }

  #deliver(link: Link, { direction, bytes, again, hand }: Delivery): void {
    this.note(`${link.node} ${direction} ${this.#wordsOf(bytes)}${again ? ' again' : ''}`);
    if (!again) return hand();
    const sum = (): number => (direction === 'to_head' ? this.#steps.emitted : this.#sumOf(link));
    const before = sum();
    hand();
    if (sum() === before) return;
    throw new Violation('S7', `${link.node} ${direction}: the same message again has an effect`);
  }

  /** Changes exactly when the agent there has decided something. */
  #sumOf({ node }: Link): number {
    const agents = [this.#own.agent, ...this.#sites.map(({ gateway }) => gateway.agentOf(node))];
    const agent = node === OWN_NODE ? agents[0] : agents.slice(1).find((one) => one !== undefined);
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

/** What the head says of the first task that has not ended. */
function whyOpen(engine: Engine): string {
  for (const job of engine.state.jobs.values()) {
    const index = job.entry.pending.first;
    if (job.outcome !== null) continue;
    if (index === undefined) {
      for (const { id, state } of job.active.values()) return `${id} is ${state}`;
    } else return `${job.id}: ${JSON.stringify(explainTask(engine, job, index))}`;
  }
  return 'nothing is open to the head';
}

/** One run at a time: some shared classes are watched while it goes on. */
export async function runForeignSeed(options: ForeignRunOptions): Promise<ForeignRunResult> {
  const world = new ForeignWorld(options);
  const onError = (error: unknown): void => world.fail(error);
  process.on('unhandledRejection', onError);
  process.on('uncaughtException', onError);
  try {
    await world.run();
  } finally {
    process.off('unhandledRejection', onError);
    process.off('uncaughtException', onError);
  }
  const { weather, violation, truth, time } = world;
  return {
    ...{ seed: options.seed, weather, violation, jobs: truth.jobs.size, virtualMs: time.now },
    hash: (world.hash >>> 0).toString(16).padStart(8, '0'),
  };
}
