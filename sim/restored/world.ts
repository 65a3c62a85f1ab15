// A head whose disk is put back as it was some time ago, and which is then told to go on: what its
// nodes remember must keep it from doing harm. Real head, real agents and gateway, and little else
// goes wrong.

import { decodeEntry } from '../../src/kernel/head/journal.ts';
import type { NodeName } from '../../src/kernel/model/ids.ts';
import { plainScheduling } from '../../src/kernel/model/scheduling.ts';
import { Streams } from '../chance.ts';
import { Chronicle } from '../chronicle.ts';
import { SimClock, Time } from '../clock.ts';
import { dialerOf, dialTo } from '../dial.ts';
import type { RunEnd, RunRequest } from '../family.ts';
import { Site } from '../foreign/site.ts';
import type { ForeignWeather } from '../foreign/weather.ts';
import { HeadHost } from '../head-host.ts';
import { headSettings } from '../head-settings.ts';
import { Machine, type MachineMake } from '../machine.ts';
import { MemoryDisk } from '../memory-store.ts';
import { Link } from '../net.ts';
import { placeOf } from '../truth.ts';
import { Violation } from '../violation.ts';
import { NO_RESTORED_CANARY, type RestoredCanary } from './canary.ts';
import { RestoredJudge } from './judge.ts';
import { ADMIN, RestoredPeople } from './people.ts';
import { BEATS, drawRestoredWeather, type RestoredWeather } from './weather.ts';

/** What became of a run. */
export interface RestoredEnd extends RunEnd {
  /** Jobs that the copy did not know. */
  readonly lost: number;
}

export type RestoredRunRequest = RunRequest<RestoredCanary, RestoredWeather>;

const NODES = ['n1', 'n2', 'n3'];
const GATEWAY = 's1';
const QUIET_MS_MAX = 600_000;

class RestoredWorld {
  readonly time = new Time();
  readonly chronicle: Chronicle;
  readonly host: HeadHost;
  readonly machines: readonly Machine[];
  readonly site: Site | null;
  readonly weather: RestoredWeather;
  readonly judge = new RestoredJudge();
  readonly #people: RestoredPeople;
  readonly #streams: Streams;
  readonly #links = new Map<string, Link>();
  readonly #canary: RestoredCanary;

  constructor({ seed, trace, weather, canary = NO_RESTORED_CANARY }: RestoredRunRequest) {
    this.#streams = new Streams(seed);
    this.#canary = canary;
    const drawn = drawRestoredWeather(this.#streams.under('weather'));
    this.weather = { ...drawn, ...weather, ...canary.weather };
    this.chronicle = new Chronicle(this.time, trace);
    this.host = this.#makeHost();
    this.machines = NODES.map((name) => this.#machine(this.#link(name)));
    this.site = this.weather.site === null ? null : this.#makeSite(this.weather.site);
    const { time, host, site, judge } = this;
    this.#people = new RestoredPeople({
      time,
      host,
      site,
      judge,
      weather: this.weather,
      machines: this.machines,
      streams: this.#streams,
      note: this.chronicle.note,
      headNow: () => new SimClock(time, host.life, host.skew).now(),
    });
  }

  async run(): Promise<void> {
    const dice = this.#streams.of('course');
    const { host, judge } = this;
    host.boot();
    for (let tries = 0; tries < 100 && !host.isUp; tries += 1) await this.#pass(10);
    for (const name of [...NODES, ...(this.site === null ? [] : [GATEWAY])]) this.#enrol(name);
    await this.#pass(100);
    const first = copyOf(host.disk);
    for (const machine of this.machines) machine.powerOn();
    this.site?.gateway.boot();
    this.#people.start();
    await this.#submitFor(dice.whole(5000, 30_000));
    const copy = copyOf(host.disk);
    judge.copied();
    await this.#submitFor(dice.whole(4000, 30_000));
    host.crash();
    judge.putBack();
    await this.#pass(dice.whole(0, 5000));
    putBack(host.disk, copy);
    host.boot();
    await this.#submitFor(dice.whole(8000, 20_000));
    host.crash();
    if (this.#canary.forgets === true) putBack(host.disk, first);
    host.acceptLoss = true;
    host.boot();
    await this.#submitFor(10_000);
    this.#people.stop();
    await this.#untilQuiet();
  }

  async #submitFor(ms: number): Promise<void> {
    const dice = this.#streams.of('jobs');
    for (const until = this.time.now + ms; this.time.now < until; ) {
      this.#people.submit();
      await this.#pass(dice.whole(100, 2000));
    }
  }

  #enrol(name: string): void {
    const node = name as NodeName;
    const given = { secretHash: '', resources: null, labels: [], replace: false };
    this.host.execute({ kind: 'enroll_node', node, ...given }, ADMIN, () => undefined);
  }

  async #untilQuiet(): Promise<void> {
    const until = this.time.now + QUIET_MS_MAX;
    let why = new Violation('L1', 'the head is down');
    while (this.time.now < until) {
      await this.#pass(1000);
      const { engine } = this.host;
      if (!this.host.isUp || engine === null) continue;
      const found = this.judge.whyNotOver(engine, this.site);
      if (found === null) return this.judge.checkEnd(engine);
      why = found;
    }
    throw why;
  }

  async #pass(ms: number): Promise<void> {
    await this.chronicle.until(this.time.now + ms, () => undefined);
    if (this.host.engine !== null) this.judge.look(this.host.engine);
  }

  #link(name: string): Link {
    const known = this.#links.get(name);
    if (known !== undefined) return known;
    const streams = this.#streams.under(`net ${name}`);
    const onDelivery: Link['world']['onDelivery'] = (link, delivery) =>
      this.chronicle.deliver(link, delivery, () => 0);
    const link = new Link(name, { time: this.time, streams, duplicates: 0, onDelivery });
    this.#links.set(name, link);
    return link;
  }

  #makeHost(): HeadHost {
    const { time, chronicle } = this;
    return new HeadHost({
      time,
      note: chronicle.note,
      log: chronicle.log('head'),
      commitMs: { min: 0.5, max: 5 },
      streams: this.#streams.under('head'),
      settings: headSettings({
        ...BEATS,
        killGraceMs: 1000,
        retainedJobsMax: 10_000,
        scheduling: plainScheduling('first_fit'),
        buildMsMax: 60_000,
        archiveDefaultBytes: 64 * 1_048_576,
      }),
      notifiersOf: null,
      fence: null,
      firstWordMs: 2000,
      onGone: () => {
        for (const link of this.#links.values()) link.sideGone('head', true);
      },
      onCrash: () => undefined,
      onBooted: () => undefined,
      onDurable: ({ engine }, { seq, bytes }) => {
        for (const { at, events } of decodeEntry(seq, bytes)) {
          for (const event of events) {
            chronicle.record(seq, event);
            chronicle.guard(() => this.judge.learn(event, at, engine));
          }
        }
      },
      wrapStore: (store) => store,
      wrapSession: (session) => session,
    });
  }

  #machine(link: Link): Machine {
    const { time, host, chronicle, judge } = this;
    const name = link.node as NodeName;
    const resources = { cpuCount: 2, memoryBytes: 2 ** 30, gpuCount: 0, counted: {} };
    const make: MachineMake = { name, resources, hasGroups: true, sharedPaths: ['/'], rate: 1 };
    return new Machine(make, {
      time,
      link,
      streams: this.#streams.under(name),
      log: chronicle.log(name),
      note: chronicle.note,
      dialer: (_, life) => dialerOf({ time, link, life, host, name }),
      dialFiles: (_, life) => {
        return dialTo({ time, link, life, host, name }, (session) => {
          host.acceptFiles(session, name);
        });
      },
      onProcess: (what, process) => {
        const { epochId, jobId } = placeOf(process);
        const { plan, node } = process;
        chronicle.note(`${node}: ${epochId} ${what}s as ${plan.name}`);
        if (what === 'end') return;
        const start = { epochId, jobId, plan, isAtSite: false };
        chronicle.guard(() => judge.started(start, host.engine));
      },
      onWrite: () => undefined,
      onOutput: () => undefined,
      onBuild: () => undefined,
      runScript: () => null,
      wrapPorts: (ports) => ports,
    });
  }

  #makeSite(weather: ForeignWeather): Site {
    const { time, host, chronicle, judge } = this;
    const nothing = (): void => undefined;
    return new Site(GATEWAY, 'steer', {
      time,
      weather,
      streams: this.#streams.under('site'),
      note: chronicle.note,
      watch: {
        onSubmitted: nothing,
        onOrdered: nothing,
        onStarted: nothing,
        onHeard: nothing,
        onProgram: (what, { epochId, job }) => {
          const { launch, nodes } = job;
          if (what === 'end' || launch === null) return;
          const node = `${nodes[0]}.${GATEWAY}`;
          const jobId = Number.parseInt(epochId, 10);
          chronicle.note(`${node}: ${epochId} starts as ${launch.plan.name}`);
          const start = { epochId, jobId, plan: launch.plan, isAtSite: true };
          chronicle.guard(() => judge.started(start, host.engine));
        },
      },
      log: (who) => chronicle.log(who),
      linkOf: (node) => this.#link(node),
      dialerOf: (name, link, life) => dialerOf({ time, link, life, host, name: name as NodeName }),
      wrapAdaptor: (adaptor) => adaptor,
    });
  }
}

function copyOf(disk: MemoryDisk): MemoryDisk {
  const copy = new MemoryDisk();
  putBack(copy, disk);
  return copy;
}

function putBack(disk: MemoryDisk, from: MemoryDisk): void {
  disk.journal = [...from.journal];
  disk.snapshot = from.snapshot;
  disk.jobs.clear();
  for (const [id, row] of from.jobs) disk.jobs.set(id, row);
  disk.tasks.clear();
  for (const [key, row] of from.tasks) disk.tasks.set(key, row);
}

/** One run; never rejects. */
export async function runRestored(wish: RestoredRunRequest): Promise<RestoredEnd> {
  const { seed, canary = NO_RESTORED_CANARY } = wish;
  const world = new RestoredWorld(wish);
  const { host, machines, site, chronicle, judge, weather, time } = world;
  host.countsLives = canary.countsLives ?? true;
  const remove = canary.plant?.();
  await chronicle.watch(async () => {
    try {
      await world.run();
    } finally {
      host.life.alive = false;
      for (const machine of machines) machine.leave();
      site?.gateway.leave();
      remove?.();
    }
  });
  const { violation, hash } = chronicle;
  return { seed, weather, violation, hash, virtualMs: time.now, lost: judge.lost };
}
