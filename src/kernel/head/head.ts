// One head: engine, agents and their timers, on whatever ports it is given. The simulator runs
// this very shell; bin/head.ts gives it real sockets and the real store.

import type { Machine } from '../machine/machine.ts';
import type { State } from '../machine/state.ts';
import type { NodeName } from '../model/ids.ts';
import type { Settings } from '../model/settings.ts';
import type { Chance } from '../ports/chance.ts';
import type { BootClock, Clock, Timer } from '../ports/clock.ts';
import type { Commands } from '../ports/commands.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import { Agents, type AgentsOptions } from './agents.ts';
import { Engine } from './engine.ts';
import type { EngineOptions } from './engine-options.ts';
import { type FenceCommand, Fencing } from './fencing.ts';
import type { LogSink } from './log-sink.ts';
import type { HeadPart } from './part.ts';
import { extendReservations } from './recurrence.ts';
import { Stamps } from './stamps.ts';

export interface HeadPorts {
  readonly machine: Machine;
  readonly store: Store;
  readonly clock: Clock;
  /** `EngineOptions.bootClock`. */
  readonly bootClock?: BootClock;
  readonly log: Log;
  readonly logs: LogSink;
  /** `EngineOptions.jobIdSeen`. */
  readonly jobIdSeen?: () => Promise<number>;
  /** How the head names its lives, and proves them to itself; absent: they are not counted. */
  readonly lives?: {
    readonly chance: Chance;
    readonly key: Uint8Array;
    /** `EngineOptions.firstWordMs`. */
    readonly firstWordMs?: number;
  };
  /** `EngineOptions.acceptLoss`. */
  readonly acceptLoss?: boolean;
  /** What wings add, made for this head. */
  readonly parts?: readonly HeadPart[];
  /** How a site makes sure that a silent node is off; without it an operator has to say so. */
  readonly fencing?: FenceCommand & { readonly commands: Commands; readonly audit: Log };
}

export interface HeadSettings {
  readonly settings: Settings;
  /** How often agents say that they live. */
  readonly heartbeatMs: number;
  /** The longest time between two looks at what time alone brings. */
  readonly tickMs: number;
  readonly logBytesMax: number;
  /** `EngineOptions.looksMax`. */
  readonly looksMax?: number;
}

export interface Head {
  readonly engine: Engine;
  readonly agents: Agents;
  /** Decides by these from now on, and tells the agents what they need of them. */
  change(to: Pick<HeadSettings, 'settings' | 'heartbeatMs'>): void;
  /** Commits what is left and closes the store. Running jobs go on without a head. */
  stop(): Promise<void>;
}

/** Reads the store and starts to decide. Rejects with `StoreFailure`. */
export async function startHead(ports: HeadPorts, options: HeadSettings): Promise<Head> {
  const { clock, log } = ports;
  const { heartbeatMs, logBytesMax, settings } = options;
  const stamps = ports.lives === undefined ? {} : { stamps: new Stamps(ports.lives.key) };
  // Often enough that a node is judged within a quarter of its time-out.
  const lookMs = Math.max(20, Math.min(options.tickMs, settings.nodeTimeoutMs / 4));
  const timing = { heartbeatMs, lookMs, logBytesMax };
  const { parts = [] } = ports;
  const gateways = gatewaysIn(parts);
  const agents = new Agents({ clock, log, logs: ports.logs, ...timing, ...stamps, ...gateways });
  const engine = await Engine.start({
    machine: ports.machine,
    store: ports.store,
    clock,
    log,
    settings,
    ...(ports.bootClock === undefined ? {} : { bootClock: ports.bootClock }),
    ...(options.looksMax === undefined ? {} : { looksMax: options.looksMax }),
    ...(ports.jobIdSeen === undefined ? {} : { jobIdSeen: ports.jobIdSeen }),
    ...nonceOf(ports),
    acceptLoss: ports.acceptLoss ?? false,
    send: (node, orders) => agents.send(node, orders),
    loads: (state) => loadsOf(state, agents),
    standings: () => agents.standings(),
    startAtSite: (task) => agents.startAtSite(task),
    siteHang: (task) => agents.siteHang(task),
    onReload: () => agents.reset('the head is reading its store again'),
  });
  agents.attach(engine);
  const silentMs = (node: NodeName): number => agents.silentMs(node);
  const { fencing: means } = ports;
  const fencing =
    means === undefined ? null : new Fencing({ ...means, engine, clock, log, silentMs });
  const works = parts.flatMap((part) => part.begin?.({ engine, clock, log }) ?? []);
  const timers = [
    every(clock, options.tickMs, () => {
      engine.perform({ kind: 'tick' }, () => undefined);
      extendReservations(engine);
    }),
    every(clock, lookMs, () => {
      // Timers come before sockets: if we were held up, what agents said meanwhile is heard first.
      clock.soon(() => {
        agents.tick();
        // What is missing may say otherwise: nothing is done out there that cannot be taken back.
        if (engine.behind !== null) return;
        fencing?.tick();
        for (const work of works) work.tick();
      });
    }),
  ];
  return {
    engine,
    agents,
    change: (to) => changeTo(engine, agents, to),
    async stop() {
      for (const timer of timers) timer.cancel();
      // First what the agents said, then the goodbye: their reports are committed by `stop`.
      const stopped = engine.stop();
      await stopped;
      agents.reset('the head is stopping');
    },
  };
}

function nonceOf({ lives }: HeadPorts): Pick<EngineOptions, 'nonce' | 'firstWordMs'> {
  if (lives === undefined) return {};
  const { chance, firstWordMs = 0 } = lives;
  return { nonce: () => Buffer.from(chance.bytes(4)).toString('hex'), firstWordMs };
}

/** One wing has them, or none. */
function gatewaysIn(parts: readonly HeadPart[]): Pick<AgentsOptions, 'gateways'> {
  const gateways = parts.find((part) => part.gateways !== undefined)?.gateways;
  return gateways === undefined ? {} : { gateways };
}

function loadsOf({ nodes }: State, agents: Agents): ReadonlyMap<NodeName, number> {
  const loads = new Map<NodeName, number>();
  for (const { name, total } of nodes.values()) {
    const load = agents.load(name);
    if (load !== null) loads.set(name, load.load1 / Math.max(1, total.cpuCount));
  }
  return loads;
}

function changeTo(
  engine: Engine,
  agents: Agents,
  { settings, heartbeatMs }: Pick<HeadSettings, 'settings' | 'heartbeatMs'>,
): void {
  const { nodeTimeoutMs, killGraceMs } = engine.settings;
  const told = settings.nodeTimeoutMs !== nodeTimeoutMs || settings.killGraceMs !== killGraceMs;
  engine.changeSettings(settings);
  if (told || heartbeatMs !== agents.heartbeatMs) agents.welcomeAgain(heartbeatMs);
}

function every(clock: Clock, periodMs: number, then: () => void): Timer {
  let cancelled = false;
  let timer: Timer;
  const again = (): void => {
    if (cancelled) return;
    then();
    timer = clock.after(periodMs, again);
  };
  timer = clock.after(periodMs, again);
  return {
    cancel() {
      cancelled = true;
      timer.cancel();
    },
  };
}
