// The machine of a gateway: the real code of src/wings/sites/fabric/site and real agents, one for
// the gateway and one for each node of a steered site, in one process that can be killed anywhere.

import { type Agent, startAgent } from '../../src/kernel/agent/agent.ts';
import type { AgentPorts, AgentSettings } from '../../src/kernel/agent/ports.ts';
import type { NodeName } from '../../src/kernel/model/ids.ts';
import { PAUSE_MAX_MS } from '../../src/kernel/model/pause.ts';
import type { Resources } from '../../src/kernel/model/resources.ts';
import {
  memberName,
  type SiteMode,
  type SiteNode,
  siteNodeOf,
} from '../../src/kernel/model/site.ts';
import type { Commands } from '../../src/kernel/ports/commands.ts';
import { POLLED } from '../../src/kernel/ports/containment.ts';
import type { Log } from '../../src/kernel/ports/log.ts';
import type { Dialer } from '../../src/kernel/ports/net.ts';
import type { SiteSource } from '../../src/kernel/ports/site-source.ts';
import type { UserAccount } from '../../src/kernel/ports/users.ts';
import { type Adaptor, totalOf } from '../../src/wings/sites/adaptors/adaptor.ts';
import { NodeStops } from '../../src/wings/sites/fabric/site/node-stops.ts';
import { SiteProcesses } from '../../src/wings/sites/fabric/site/site-processes.ts';
import { SiteWatch } from '../../src/wings/sites/fabric/site/site-watch.ts';
import { Steerer } from '../../src/wings/sites/fabric/site/steerer.ts';
import { agentParts } from '../agent-parts.ts';
import type { Streams } from '../chance.ts';
import { Life, SimClock, type Skew, type Time } from '../clock.ts';
import { filesOf, journalOf, SimDisk } from '../disk.ts';
import type { Link } from '../net.ts';
import { foldersOf, notesOf, type SiteDisk } from './disk.ts';
import type { Listed } from './line.ts';
import type { ForeignSystem } from './system.ts';

export interface GatewayWorld {
  readonly time: Time;
  readonly streams: Streams;
  readonly name: NodeName;
  readonly mode: SiteMode;
  readonly system: ForeignSystem;
  readonly adaptor: Adaptor;
  readonly disk: SiteDisk;
  readonly settings: {
    readonly pollMs: number;
    readonly timeoutMs: number;
    readonly commandsMax: number;
  };
  readonly commandsOf: (life: Life, onListed?: Listed) => Commands;
  readonly linkOf: (node: string) => Link;
  readonly dialerOf: (node: string, link: Link, life: Life) => Dialer;
  readonly log: Log;
  readonly note: (text: string) => void;
}

/** What of an agent outlives its process. */
interface Seat {
  readonly name: NodeName;
  /** The site's name of its node; null: it is the gateway. */
  readonly member: string | null;
  readonly disk: SimDisk;
  readonly link: Link;
}

interface Hub {
  readonly life: Life;
  readonly watch: SiteWatch;
  readonly steerer: Steerer | null;
  readonly stops: NodeStops | null;
  readonly commands: Commands;
  readonly agents: Map<NodeName, Agent>;
  readonly there: Set<string>;
}

const AT_THE_SITE = { ...POLLED, facts: 'the site', limits: 'the site', polled: false };
const RESTART_MS = 5000;
const NOTHING = (): void => undefined;

export class Gateway {
  readonly world: GatewayWorld;
  readonly skew: Skew;
  readonly #seats = new Map<NodeName, Seat>();
  /** Notes of nodes that it has stopped; they outlive it. */
  readonly #notes = new Map<string, string>();
  #boots = 1;
  #hub: Hub | null = null;

  constructor(world: GatewayWorld) {
    this.world = world;
    this.skew = { rate: 1, wallMs: world.streams.of('clock').whole(-500, 500), bootedAt: 0 };
  }

  get isUp(): boolean {
    return this.#hub !== null;
  }

  get agents(): Iterable<Agent> {
    return this.#hub?.agents.values() ?? [];
  }

  get links(): Link[] {
    return [...this.#seats.values()].map(({ link }) => link);
  }

  agentOf(node: string): Agent | undefined {
    return this.#hub?.agents.get(node as NodeName);
  }

  boot(): void {
    if (this.#hub !== null) return;
    const { mode, adaptor, settings, log, name, note } = this.world;
    note(`${name} starts its gateway`);
    const life = new Life();
    const clock = new SimClock(this.world.time, life, this.skew);
    const commands = this.world.commandsOf(life);
    const common = { commands, clock, log, settings: { ...settings, before: [] } };
    const { steering } = adaptor;
    const steerer = steering === null ? null : new Steerer({ ...common, steering });
    const notes = notesOf(this.#notes, life);
    const { system, commandsOf } = this.world;
    const looking = { commands: commandsOf(life, (at) => system.seen(at)) };
    const stops =
      steering === null ? null : new NodeStops({ ...common, ...looking, adaptor, notes });
    const watch = new SiteWatch({ ...common, adaptor, mode, steerer, stops });
    const hub = {
      life,
      watch,
      steerer,
      stops,
      commands,
      agents: new Map(),
      there: new Set<string>(),
    };
    this.#hub = hub;
    void this.#serve(hub, clock);
  }

  /** Refuses to start while its site cannot be steered; somebody starts it again. */
  async #serve(hub: Hub, clock: SimClock): Promise<void> {
    const { life, steerer, watch } = hub;
    const lack = (await steerer?.lacks()) ?? null;
    if (!life.alive) return;
    if (lack !== null) {
      this.world.note(`${this.world.name} cannot be steered: ${lack}`);
      clock.after(RESTART_MS, () => void this.#serve(hub, clock));
      return;
    }
    this.#begin(hub, this.#seat(this.world.name, null));
    watch.onNodes((nodes) => this.#bring(hub, nodes));
    watch.start();
  }

  /** Ended like with `kill -9`. */
  crash(): void {
    if (this.#hub === null) return;
    this.world.note(`${this.world.name} loses its gateway`);
    this.#gone(true);
  }

  /** The machine of the gateway starts anew; its site knows nothing of that. */
  reboot(): void {
    this.world.note(`${this.world.name} is restarted`);
    this.#gone(false);
    this.#boots += 1;
    this.skew.bootedAt = this.world.time.now;
  }

  stop(): void {
    if (this.#hub === null) return;
    this.world.note(`${this.world.name} stops its gateway`);
    for (const agent of this.#hub.agents.values()) agent.stop();
    this.#gone(true);
  }

  leave(): void {
    if (this.#hub !== null) this.#hub.life.alive = false;
  }

  #gone(isMachineUp: boolean): void {
    if (this.#hub === null) return;
    this.#hub.life.alive = false;
    this.#hub = null;
    for (const { link } of this.#seats.values()) link.sideGone('agent', isMachineUp);
  }

  #seat(name: NodeName, member: string | null): Seat {
    const known = this.#seats.get(name);
    if (known !== undefined) return known;
    const seat = { name, member, disk: new SimDisk(), link: this.world.linkOf(name) };
    this.#seats.set(name, seat);
    return seat;
  }

  #bring(hub: Hub, nodes: readonly SiteNode[]): void {
    if (hub.steerer === null || !hub.life.alive) return;
    for (const { name } of nodes) {
      if (hub.there.has(name)) continue;
      hub.there.add(name);
      const member = memberName(name, this.world.name) as NodeName;
      this.#begin(hub, this.#seat(member, name));
    }
  }

  #begin(hub: Hub, seat: Seat): void {
    const parts = agentParts(['simulated']);
    void startAgent(this.#ports(hub, seat), this.#settings(seat), parts).then((agent) => {
      if (hub.life.alive) hub.agents.set(seat.name, agent);
    });
  }

  #ports(hub: Hub, seat: Seat): AgentPorts {
    const { time, streams, log, dialerOf } = this.world;
    const { life } = hub;
    const { name, disk, link, member } = seat;
    return {
      clock: new SimClock(time, life, this.skew),
      chance: streams.of(`agent ${name}`),
      log,
      dialer: dialerOf(name, link, life),
      connectLauncher: () => Promise.resolve(this.#processes(hub, seat)),
      journal: journalOf(disk, life, () => 'none'),
      files: filesOf(disk, life),
      users: { self: () => account('root', 0), cached: () => undefined, find: findUser },
      containment: AT_THE_SITE,
      marks: { memory: () => new Map(), kill: () => ({ lived: 0, unknown: 0 }) },
      load: () => ({ load1: 0, memoryFreeBytes: 0, diskFreeBytes: 2 ** 40 }),
      site: member === null ? hub.watch : memberSource(member, hub.watch),
    };
  }

  #processes(
    { life, watch, steerer, stops, commands }: Hub,
    { name, member }: Seat,
  ): SiteProcesses {
    const { time, adaptor, disk, log, settings, name: gateway } = this.world;
    const prefix = `weft-${name}`;
    watch.addPrefix(prefix);
    const nameAtSite = (node: string): string | null => siteNodeOf(node, gateway);
    const place =
      member === null || steerer === null || stops === null
        ? {}
        : { place: { node: member, steerer, nameAtSite, stops } };
    return new SiteProcesses({
      adaptor,
      commands,
      clock: new SimClock(time, life, this.skew),
      log,
      ...place,
      folders: foldersOf(disk, `/${name}/site`, life),
      settings: { ...settings, before: [], prefix, queue: null, account: null, options: [] },
      listJobs: () => watch.list(),
    });
  }

  #settings({ name, member }: Seat): AgentSettings {
    const { name: gateway, system } = this.world;
    return {
      node: name,
      bootId: `${gateway}-boot-${this.#boots}`,
      instance: `${name}-install`,
      resources: this.#resources(member),
      labels: [`site=${gateway}`, 'system=simulated'],
      sharedPaths: ['/shared'],
      facts: {
        os: 'Linux',
        arch: 'x64',
        kernel: '6',
        hostname: gateway,
        agentVersion: '0',
        diskFreeBytes: 0,
        diskBytes: 0,
        network: '',
        limits: 'the site',
        launcher: 'c',
        switchesUser: true,
        user: 'root',
        site: system.world.site,
      },
      stateDir: `/${name}`,
      spoolBytesMax: 1e9,
      switchUser: true,
      ownUserOnly: false,
      gpuFrom: 0,
      allowRoot: false,
      isWholeMachine: false,
      pauseMaxMs: PAUSE_MAX_MS,
    };
  }

  /** What all its nodes have together; a gateway of nodes of their own has nothing itself. */
  #resources(member: string | null): Resources {
    const { nodes } = this.world.system;
    const none = { memoryBytes: 0, gpuCount: 0, counted: {} };
    const own = nodes.find(({ name }) => name === member);
    if (own !== undefined) return { ...none, cpuCount: own.cpuCount };
    if (this.world.mode === 'steer') return { ...none, cpuCount: 0 };
    const all = nodes.map((one) => ({ ...one, state: 'idle' }) as unknown as SiteNode);
    return { ...none, cpuCount: totalOf(all).cpuCount };
  }
}

/** The gateway of a member speaks for the site; a node only for itself. */
function memberSource(member: string, watch: SiteWatch): SiteSource {
  return {
    connect: NOTHING,
    disconnect: NOTHING,
    cancel: NOTHING,
    ask: NOTHING,
    close: NOTHING,
    hold: NOTHING,
    stop: NOTHING,
    fault: () => watch.faultOf(member),
  };
}

const USERS: ReadonlyMap<string, UserAccount> = new Map(
  ['alice', 'bob', 'carol'].map((name, at) => [name, account(name, 1000 + at)]),
);

function findUser(name: string): Promise<UserAccount | null> {
  return Promise.resolve(USERS.get(name) ?? null);
}

function account(name: string, uid: number): UserAccount {
  const home = `/var/lib/${name}`;
  return { name, uid, gid: uid, groups: [uid], home, shell: '/bin/sh' };
}
