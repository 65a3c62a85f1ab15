// One other cluster of a run: its batch system, the file system, the line to it, and its gateway.

import type { NodeName } from '../../src/kernel/model/ids.ts';
import type { SiteMode } from '../../src/kernel/model/site.ts';
import type { Log } from '../../src/kernel/ports/log.ts';
import type { Dialer } from '../../src/kernel/ports/net.ts';
import type { Adaptor } from '../../src/wings/sites/adaptors/adaptor.ts';
import type { Streams } from '../chance.ts';
import { Life, SimClock, type Time } from '../clock.ts';
import type { Link } from '../net.ts';
import type { ForeignWatch } from './check-site.ts';
import { type Dialect, dialectOf } from './dialect.ts';
import { SiteDisk } from './disk.ts';
import { Gateway } from './gateway.ts';
import { SiteLine } from './line.ts';
import { ForeignSystem } from './system.ts';
import type { ForeignWeather } from './weather.ts';

/** Hears what really happens there. */
export type SiteWatcher = Pick<
  ForeignWatch,
  'onProgram' | 'onSubmitted' | 'onOrdered' | 'onStarted' | 'onHeard'
>;

export interface SiteWorld {
  readonly time: Time;
  readonly streams: Streams;
  readonly weather: ForeignWeather;
  readonly watch: SiteWatcher;
  readonly note: (text: string) => void;
  readonly log: (who: string) => Log;
  readonly linkOf: (node: string) => Link;
  readonly dialerOf: (node: string, link: Link, life: Life) => Dialer;
  readonly wrapAdaptor: (adaptor: Adaptor) => Adaptor;
}

/** How a site says that we have stopped a node. */
const OWN_REASON = 'weft maintenance';

export class Site {
  readonly name: NodeName;
  readonly mode: SiteMode;
  readonly system: ForeignSystem;
  readonly disk: SiteDisk;
  readonly line: SiteLine;
  readonly gateway: Gateway;
  /** Share of commands that go wrong. */
  lies: number;

  constructor(name: string, mode: SiteMode, world: SiteWorld) {
    const { time, streams, weather, watch, note } = world;
    this.name = name as NodeName;
    this.mode = mode;
    this.lies = weather.lies;
    this.disk = new SiteDisk(time, streams.of('disk'), weather.lagMs);
    const clock = new SimClock(time, new Life(), { rate: 1, wallMs: 0, bootedAt: 0 });
    const nodes = Array.from({ length: weather.nodeCount }, (_, at) => {
      const cpuCount = streams.of('cpus').whole(2, 4);
      const times = { wishedAt: 0, changedAt: 0, seenAt: 0 };
      const theirs = { stopped: null, wish: null, isOverlooked: false, ...times };
      return { name: `c${at + 1}`, cpuCount, isUp: true, ...theirs, ticket: null };
    });
    const { disk } = this;
    this.system = new ForeignSystem(
      {
        site: name,
        time,
        streams,
        disk,
        now: () => clock.now(),
        purgeMs: weather.purgeMs,
        note,
        onProgram: (what, program) => watch.onProgram(what, program),
        onSubmitted: (job) => watch.onSubmitted(name, job),
        onOrdered: (job, sentAt) => watch.onOrdered(name, job, sentAt),
        onStarted: (job, by) => watch.onStarted(name, job, by),
      },
      nodes,
      {
        isScheduling: mode === 'submit',
        hasQueue: mode === 'steer' && hasQueue(weather),
        hasTickets: mode === 'steer' && hasTickets(weather),
      },
    );
    const dialect = dialectOf(weather, mode, disk);
    this.line = new SiteLine({
      time,
      streams: streams.under('line'),
      system: this.system,
      dialect,
      lies: () => this.lies,
      onHeard: (words, said) => watch.onHeard(name, words, said),
    });
    this.gateway = this.#makeGateway(world, dialect);
  }

  /** Nothing is wrong with it any more. */
  heal(): void {
    const { system } = this;
    this.lies = 0;
    this.line.silentUntil = 0;
    system.isScheduling = this.mode === 'submit';
    for (const node of system.nodes) {
      node.isUp = true;
      if (node.wish !== null) system.drain(node, null);
    }
    for (const job of system.jobs.values()) {
      job.hiddenUntil = 0;
      system.hold(job, false);
    }
    this.gateway.boot();
  }

  /** The operators of the site repeat what a gateway undid that could not have seen it. */
  lookAgain(): void {
    for (const node of this.system.nodes) {
      const { stopped, wish, isOverlooked } = node;
      const isOurs = stopped?.startsWith(OWN_REASON) === true;
      if (isOverlooked && stopped !== wish && !isOurs) this.system.drain(node, wish);
    }
  }

  /** X5 in words: nodes that are not as the site's operators want them. */
  notAsTheyWere(): string[] {
    const other = this.system.nodes.filter(({ stopped, wish }) => stopped !== wish);
    return other.map(
      ({ name, stopped, wish }) => `${this.name}: ${name} is ${stopped}, not ${wish}`,
    );
  }

  /** L3 in words. */
  left(): string[] {
    const { name, system, disk, gateway } = this;
    const epochs = [...gateway.agents].flatMap((agent) => [...agent.state.epochs.keys()]);
    const open = [...system.jobs.values()].filter((job) => job.state !== 'ended');
    return [
      ...open.map(({ id, state }) => `job ${name}/${id} is ${state}`),
      ...epochs.map((epochId) => `${epochId} at a gateway of ${name}`),
      ...[...disk.folders.keys()].map((path) => `folder ${path}`),
    ];
  }

  #makeGateway({ weather, wrapAdaptor, log, ...world }: SiteWorld, dialect: Dialect): Gateway {
    const { name, mode, system, disk, line } = this;
    const { pollMs, timeoutMs, commandsMax } = weather;
    return new Gateway({
      name,
      mode,
      system,
      disk,
      time: world.time,
      note: world.note,
      log: log(name),
      adaptor: wrapAdaptor(dialect.adaptor),
      streams: world.streams.under('gateway'),
      settings: { pollMs, timeoutMs, commandsMax },
      commandsOf: (life, onListed) => line.commandsOf(life, onListed),
      linkOf: world.linkOf,
      dialerOf: world.dialerOf,
    });
  }
}

/** Programs of operators have no such way. */
function hasQueue({ contract, takeover, hasTickets }: ForeignWeather): boolean {
  return contract === 'plain' && takeover === 'execution_queue' && !hasTickets;
}

/** Nor have they this one. */
function hasTickets({ contract, hasTickets }: ForeignWeather): boolean {
  return contract === 'plain' && hasTickets;
}
