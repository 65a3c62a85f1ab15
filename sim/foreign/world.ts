// One simulated cluster with other clusters behind gateways: the real head, real gateways, and
// batch systems with a will of their own. Storm, healing, and the wait for everything to end.

import { decodeEntry } from '../../src/kernel/head/journal.ts';
import type { Dialer } from '../../src/kernel/ports/net.ts';
import type { Commit } from '../../src/kernel/ports/store.ts';
import { lookAt } from '../agent-look.ts';
import { Streams } from '../chance.ts';
import { checkAccepted, checkBooks, checkFinal } from '../checkers/belief.ts';
import { checkReplay } from '../checkers/replay.ts';
import { Chronicle } from '../chronicle.ts';
import { Client, operator } from '../client.ts';
import { type Life, Time } from '../clock.ts';
import { dialerOf } from '../dial.ts';
import type { RunEnd, RunRequest } from '../family.ts';
import { HeadHost } from '../head-host.ts';
import { headSettings, PERIOD_MS } from '../head-settings.ts';
import type { Machine } from '../machine.ts';
import { type Delivery, Link } from '../net.ts';
import { plainSite } from '../site.ts';
import { StepLog } from '../steps.ts';
import { Truth } from '../truth.ts';
import { Violation } from '../violation.ts';
import { type ForeignCanary, NO_FOREIGN_CANARY, type PlantedForeign } from './canary.ts';
import { type ForeignEnd, whyNotOver } from './check-end.ts';
import { ForeignWatch } from './check-site.ts';
import { OWN_NODE, ownNode, ProbeWatch } from './own-node.ts';
import { People } from './people.ts';
import { Site } from './site.ts';
import { ForeignStorm } from './storm.ts';
import type { ForeignSystem } from './system.ts';
import { BEFORE, drawForeignWeather, type ForeignWeather, SLOW } from './weather.ts';

export interface ForeignRunResult extends RunEnd {
  readonly weather: ForeignWeather;
  readonly jobs: number;
}

/** Once all is well, at least one task ends in this time, or everything has. */
const LIVENESS_MS = 600_000;
const WATCH_MS = 500;
const TIDY_MS = 5000;
const DUPLICATES = 0.05;
const HOUR_MS = 3_600_000;
/** Between two jobs for our own node in it. */
const HOUR_PROBES_MS = 30_000;

class ForeignWorld {
  readonly weather: ForeignWeather;
  readonly time = new Time();
  readonly truth = new Truth();
  readonly chronicle: Chronicle;
  readonly #streams: Streams;
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

  constructor({ seed, canary = NO_FOREIGN_CANARY, weather, trace }: ForeignRunRequest) {
    const streams = new Streams(seed, 'foreign ');
    this.#streams = streams;
    this.chronicle = new Chronicle(this.time, trace);
    const drawn = drawForeignWeather(streams.under('weather'));
    const before = canary === NO_FOREIGN_CANARY ? {} : BEFORE;
    const wished = { ...drawn, ...before, ...weather, ...canary.weather };
    this.weather = wished.hasHour ? { ...wished, ...SLOW } : wished;
    const { time, truth } = this;
    this.#planted = canary.plant({
      time,
      systems: this.#systems,
      isSilent: () => this.#sites.some(({ line }) => time.now < line.silentUntil),
    });
    this.#steps = new StepLog({ before: () => undefined, after: () => undefined });
    const { note, guard } = this.chronicle;
    const { contract, timeoutMs } = this.weather;
    const learnMs = contract === 'script' ? timeoutMs : 0;
    this.#watch = new ForeignWatch({ truth, time, systems: this.#systems, guard, learnMs });
    this.#probes = new ProbeWatch(truth, this.weather.commitMs.max);
    this.#host = this.#makeHost();
    this.#own = ownNode({
      time,
      streams: streams.under('own'),
      log: this.chronicle.log('own'),
      note,
      link: this.#link(OWN_NODE),
      dialerOf: (node, link, life) => this.#dialer(node, link, life),
      onProcess: (what, process) =>
        what === 'start' ? truth.started(process) : truth.ended(process),
    });
    this.#sites = this.#makeSites();
    const client = { time, host: this.#host, lostAnswers: 0.02, streams: streams.under('client') };
    this.#client = new Client(client);
    const common = { time, note, sites: this.#sites };
    this.#people = new People({
      ...common,
      truth,
      client: this.#client,
      weather: this.weather,
      streams: streams.under('people'),
    });
    this.#storm = new ForeignStorm(
      {
        ...common,
        host: this.#host,
        streams: streams.under('storm'),
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
      this.chronicle.note('everything is healed');
      this.#people.stop();
      this.#storm.heal();
      if (this.weather.hasHour) await this.#silentHour();
      await this.#untilQuiet();
    } finally {
      this.#host.life.alive = false;
      this.#own.leave();
      for (const { gateway } of this.#sites) gateway.leave();
      this.#steps.close();
      this.#planted.remove?.();
    }
  }

  /** Nothing else is wrong, and everybody goes on: nothing may come of it. */
  async #silentHour(): Promise<void> {
    const [site] = this.#sites;
    if (site === undefined) return;
    this.chronicle.note(`${site.name} says nothing for an hour`);
    site.line.silentUntil = this.time.now + HOUR_MS;
    this.#people.probe(HOUR_PROBES_MS);
    await this.#until(site.line.silentUntil);
    this.#people.stop();
  }

  #until(instant: number): Promise<void> {
    return this.chronicle.until(instant, () => this.#afterEvent());
  }

  #afterEvent(): void {
    if (this.#steps.emitted === this.#checked) return;
    this.#checked = this.#steps.emitted;
    const { engine } = this.#host;
    if (engine !== null && engine.failure === null) checkBooks({ head: engine.state });
  }

  get #end(): ForeignEnd {
    const { truth } = this;
    const { unanswered } = this.#people;
    return { truth, unanswered, sites: this.#sites, engine: this.#host.engine };
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
      if (whyNotOver(this.#end) === null) return this.#atEnd();
    }
    throw whyNotOver(this.#end) ?? new Violation('L1', 'it has just become quiet');
  }

  #atEnd(): void {
    this.#checkHead(this.#host);
    this.#checkReplay(this.#host);
  }

  #look(): void {
    this.time.after(WATCH_MS, () => {
      const { unanswered } = this.#people;
      this.chronicle.guard(() => this.#probes.look(this.#host, unanswered, this.time.now));
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
        time,
        weather,
        watch: this.#watch,
        streams: own.under(name),
        note: this.chronicle.note,
        log: (who) => this.chronicle.log(who),
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
    const { time, chronicle } = this;
    const { note } = chronicle;
    const streams = this.#streams.under('head');
    return new HeadHost({
      time,
      note,
      streams,
      commitMs,
      log: chronicle.log('head'),
      settings: headSettings({
        nodeTimeoutMs,
        heartbeatMs,
        killGraceMs: 3000,
        scheduling: plainSite('easy').base,
        retainedJobsMax: 10_000,
        archiveDefaultBytes: 1_048_576,
        buildMsMax: 60_000,
      }),
      notifiersOf: null,
      fence: null,
      onGone: () => {
        for (const link of this.#links.values()) link.sideGone('head', true);
      },
      onCrash: (host) => this.chronicle.guard(() => this.#checkReplay(host)),
      onBooted: (host) => this.chronicle.guard(() => this.#checkHead(host)),
      onDurable: (host, commit) => this.chronicle.guard(() => this.#learn(host, commit)),
      wrapStore: (store) => store,
      wrapSession: (session) => session,
    });
  }

  /** A record is durable: it is judged, and then true. */
  #learn(host: HeadHost, commit: Commit): void {
    const steps = decodeEntry(commit.seq, commit.bytes);
    if (host.engine !== null) this.#steps.noteDurable(host.engine.state, steps.length);
    for (const { at, events } of steps) {
      for (const event of events) {
        this.chronicle.record(commit.seq, event);
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

  #deliver(link: Link, delivery: Delivery): void {
    const isToHead = delivery.direction === 'to_head';
    const look = (): unknown => (isToHead ? this.#steps.emitted : this.#lookAt(link));
    this.chronicle.deliver(link, delivery, look);
  }

  /** Changes exactly when the agent there has decided something. */
  #lookAt({ node }: Link): unknown {
    const agents = [this.#own.agent, ...this.#sites.map(({ gateway }) => gateway.agentOf(node))];
    const agent = node === OWN_NODE ? agents[0] : agents.slice(1).find((one) => one !== undefined);
    return agent == null ? null : lookAt(agent.state);
  }
}

type ForeignRunRequest = RunRequest<ForeignCanary, ForeignWeather>;

/** One run at a time: some shared classes are watched while it goes on. */
export async function runForeignSeed(wish: ForeignRunRequest): Promise<ForeignRunResult> {
  const world = new ForeignWorld(wish);
  const { weather, truth, time, chronicle } = world;
  await chronicle.watch(() => world.run());
  const { violation, hash } = chronicle;
  const size = { jobs: truth.jobs.size, virtualMs: time.now };
  return { seed: wish.seed, weather, violation, hash, ...size };
}
