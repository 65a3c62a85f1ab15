// The agent: binds the runner to launcher, head, files and limits. Runs unchanged on Linux and in
// the simulator; everything it touches is an argument.

import type { NodeHello } from '../model/node.ts';
import type { NodeSize } from '../model/node-sizes.ts';
import type { Order } from '../model/orders.ts';
import type { Resources } from '../model/resources.ts';
import { heldEpochs } from '../runner/books.ts';
import type { Epoch } from '../runner/epoch.ts';
import type { RunnerInput } from '../runner/inputs.ts';
import type { RunnerState } from '../runner/state.ts';
import type { HeadToAgent } from '../wire/messages.ts';
import { completePorts } from './absent.ts';
import { Companions } from './companions.ts';
import { Engine } from './engine.ts';
import { FaultWatch, LAUNCHER_OUTDATED } from './fault.ts';
import { Feeds } from './feeds.ts';
import { Hands, limitGroupsOf } from './hands.ts';
import { HealthWatch } from './health.ts';
import { Journal } from './journal.ts';
import { LauncherLine } from './launcher-line.ts';
import { MemoryWatch } from './memory-watch.ts';
import { OutputShipper } from './outputs.ts';
import type { AgentPart } from './part.ts';
import { Pausing } from './pausing.ts';
import type { AgentPorts, AgentSettings, AllPorts } from './ports.ts';
import { HeadLink, type LinkStatus } from './session.ts';
import { Spool } from './spool.ts';
import { StopWatch } from './stop-watch.ts';

/** What of a node may change while its agent runs. Absent of it: as it was. */
export interface Introduction {
  readonly labels?: readonly string[];
  readonly resources?: Resources;
  /** Facts of the node, as the next. */
  readonly containers?: string;
  readonly sizes?: readonly NodeSize[];
}

export interface Agent {
  /** Read only: for people and for checks. */
  readonly state: RunnerState;
  readonly status: LinkStatus;
  readonly pausing: Pausing;
  /** The head is told at once of what the machine has now. */
  introduce(changed: Introduction): void;
  /** Before it stops: what wings offer beside it is over. */
  close(): Promise<void>;
  /** Leaves everything running, as a restart does; the next agent adopts it. */
  stop(): void;
  /** Ends every process and the launcher's work; the next agent reports them as lost. */
  shutDown(): Promise<void>;
}

/** A process that does not end on KILL sits in the kernel; waiting longer would not help. */
const SHUT_DOWN_MS = 5000;

/** Resolves when what ran before is adopted and the first dial is under way. */
export async function startAgent(
  ports: AgentPorts,
  settings: AgentSettings,
  parts: readonly AgentPart[],
): Promise<Agent> {
  const agent = new RunningAgent(completePorts(ports), settings, parts);
  await agent.start();
  return agent;
}

class RunningAgent implements Agent {
  readonly #ports: AllPorts;
  readonly #settings: AgentSettings;
  readonly #engine: Engine;
  readonly pausing: Pausing;
  readonly #link: HeadLink;
  readonly #outputs: OutputShipper;
  readonly #feeds: Feeds;
  readonly #hands: Hands;
  readonly #memory: MemoryWatch;
  readonly #companions: Companions;
  readonly #stops: StopWatch;
  readonly #faults: FaultWatch;
  readonly #health: HealthWatch;
  readonly #spool: Spool;
  readonly #launcher: LauncherLine;
  #stopped = false;
  /** The head of this session hears what wings say. */
  #hasWings = false;
  /** What may change while it runs. */
  #introduction: Pick<AgentSettings, 'labels' | 'resources' | 'facts'>;

  constructor(ports: AllPorts, settings: AgentSettings, parts: readonly AgentPart[]) {
    this.#introduction = settings;
    this.#ports = ports;
    this.#settings = settings;
    const { clock, log, files } = ports;
    const journal = new Journal(ports.journal, settings.bootId);
    const { state, sameBoot, torn } = journal.recover({
      at: clock.now(),
      monotonic: clock.monotonic(),
    });
    log.info({ epochs: state.epochs.size, sameBoot, torn }, 'journal read');
    this.#engine = new Engine({ state, clock, bootClock: ports.bootClock ?? null, journal, log });
    this.pausing = new Pausing({
      node: settings.node,
      maxMs: settings.pauseMaxMs,
      state,
      isAtSite: settings.facts.site !== undefined,
      step: (input) => this.#engine.step(input),
    });
    this.#outputs = new OutputShipper({
      clock,
      files,
      isStarted: (epochId) => hasStarted(state.epochs.get(epochId)),
      send: (message) => this.#link.send(message),
    });
    this.#feeds = new Feeds({
      pipes: ports.pipes,
      files,
      log,
      directory: `${settings.stateDir}/stdin`,
      isStarted: (epochId) => hasStarted(state.epochs.get(epochId)),
      send: (message) => this.#link.send(message),
    });
    this.#spool = new Spool({
      clock,
      files,
      log,
      bytesMax: settings.spoolBytesMax,
      all: () => this.#outputs.all(),
    });
    this.#launcher = new LauncherLine({
      clock,
      log,
      state,
      connect: ports.connectLauncher,
      isBroken: (epochId) => this.#feeds.isBroken(epochId),
      step: (input) => this.#stepStart(input),
      onFound: () => this.#hands.onLauncherFound(state),
      onAdopted: () => this.#onAdopted(),
    });
    this.#health = new HealthWatch({
      clock,
      log,
      health: ports.health ?? null,
      onChange: () => this.#faults.look(),
    });
    this.#faults = new FaultWatch({
      now: () => clock.monotonic(),
      load: ports.load,
      isLauncherOutdated: () => this.#launcher.isOutdated,
      // A site starts a job when it likes.
      isLauncherSilent: () => ports.site === undefined && this.#launcher.isSilent,
      isSpoolFull: () => this.#spool.isFull,
      ill: () =>
        this.#health.fault ?? ports.site?.fault() ?? this.#companions.kept()?.fault ?? null,
      hasRoom: () => this.#engine.isWriting && journal.hasRoom(),
      isElsewhere: (settings.facts.site ?? settings.node) !== settings.node,
      onChange: () => this.#onFault(),
    });
    this.#link = this.#makeLink();
    this.#hands = new Hands({
      ports,
      settings,
      parts,
      outputs: this.#outputs,
      feeds: this.#feeds,
      processes: () => this.#launcher.processes,
      start: (request) => this.#launcher.start(request),
      signal: (...wish) => this.#launcher.signal(...wish),
      cannotStart: () => (this.#launcher.isOutdated ? LAUNCHER_OUTDATED : null),
      onLack: (words) => this.#faults.lacks(words),
      killGraceMs: () => this.state.killGraceMs,
      isLaunching: (epochId) => this.state.epochs.get(epochId)?.phase === 'launching',
      now: () => this.#engine.now,
      step: (input) => this.#stepStart(input),
    });
    this.#memory = new MemoryWatch(ports, settings, {
      engine: this.#engine,
      onKill: () => this.#link.sayAlive(),
    });
    this.#companions = new Companions(parts, {
      ports,
      settings,
      state,
      pausing: this.pausing,
      step: (input) => this.#engine.step(input),
      sayAlive: () => this.#link.sayAlive(),
      introduce: () => this.#link.introduce(),
      gpus: () => this.#companions.gpus()?.gpus ?? null,
      cardUse: () => this.#companions.cardUse(),
      say: (wing, body) => this.#hasWings && this.#link.send({ kind: 'wing', wing, body }),
      beside: {
        joining: (epoch) => this.#hands.joining(epoch),
        start: (request, heard) => this.#launcher.startBeside(request, heard),
        signal: (launchId, signal) => this.#launcher.processes?.signal(launchId, signal, true),
      },
      atSocket: new Map(),
    });
    this.#stops = new StopWatch({
      clock: ports.clock,
      state: this.state,
      processes: () => this.#launcher.processes,
    });
  }

  get state(): RunnerState {
    return this.#engine.state;
  }

  get status(): LinkStatus {
    return this.#link.status;
  }

  async start(): Promise<void> {
    this.#hands.prepareNode(this.state);
    this.#engine.attach({
      perform: (effect, epoch) => {
        // First: what runs beside its processes must not be found once they are swept.
        if (effect.kind === 'sweep') this.#companions.ended(epoch);
        this.#hands.perform(effect, epoch);
        if (effect.kind === 'start') this.#companions.started(epoch);
      },
      onSettled: () => {
        this.#link.sendReports();
        this.pausing.onSettled();
      },
    });
    await this.#launcher.connect();
    if (this.#stopped) return;
    this.#memory.start();
    this.#stops.start();
    this.#spool.start();
    this.#health.start();
    this.#companions.begin();
    this.#link.start();
  }

  close(): Promise<void> {
    return this.#companions.close();
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#engine.stop();
    this.#hands.stop();
    this.#memory.stop();
    this.#stops.stop();
    this.#spool.stop();
    this.#health.stop();
    this.#companions.stop();
    this.#ports.site?.close();
    this.#outputs.disconnect();
    this.#link.stop();
    this.#launcher.give()?.close();
    this.#ports.containment.close();
    this.#ports.journal.close();
  }

  async shutDown(): Promise<void> {
    const { containment, clock } = this.#ports;
    const groups = limitGroupsOf(this.state);
    // First deaf, then deadly: an exit that we cause here must not be journaled as the task's own.
    this.#engine.stop();
    const processes = this.#launcher.give();
    for (const group of groups) containment.kill(group);
    if (processes !== null) {
      await new Promise<void>((resolve) => {
        const timer = clock.after(SHUT_DOWN_MS, resolve);
        processes.onLost(() => {
          // Left running, it would keep the program alive for all of its time.
          timer.cancel();
          resolve();
        });
        processes.shutDown();
      });
    }
    for (const group of groups) if (containment.isEmpty(group)) containment.release(group);
    this.stop();
  }

  #makeLink(): HeadLink {
    const { clock, chance, log, dialer, load } = this.#ports;
    const { state } = this.#engine;
    return new HeadLink({
      clock,
      chance,
      log,
      dialer,
      load,
      hello: () => this.#hello(),
      stamp: () => state.stamp,
      mayReportLater: () => state.nextOf.size > 0,
      holdsNothing: () => state.epochs.size === 0,
      onStamp: (stamp) => this.#engine.step({ kind: 'stamp', stamp }),
      fault: () => this.#faults.look(),
      presence: () => this.#companions.presence(),
      gpus: () => this.#companions.gpus()?.gpus ?? null,
      memory: () => this.#memory.uses,
      reports: () => ({ all: state.reports, next: this.#engine.nextReport }),
      onWelcome: (welcome) => {
        this.#hands.greeted();
        this.#engine.step({ kind: 'kill_grace', graceMs: welcome.killGraceMs });
        this.#spool.limitFiles(welcome.logBytesMax);
        this.#outputs.connect(welcome);
        this.#tellOfSite(welcome);
        this.#hasWings = welcome.features.includes('wings');
        this.#companions.greeted(this.#hasWings);
      },
      onDown: () => this.#onDown(),
      onMessage: (message) => this.#onMessage(message),
      onHeard: (sentAt) => this.#onHeard(sentAt),
      onReportsAcknowledged: (upTo) => this.#engine.step({ kind: 'reports_acknowledged', upTo }),
    });
  }

  #tellOfSite({ features }: Extract<HeadToAgent, { kind: 'welcome' }>): void {
    if (!features.includes('sites')) return;
    this.#ports.site?.connect((news) => this.#link.send({ kind: 'site', news }));
  }

  #onDown(): void {
    this.#outputs.disconnect();
    this.#ports.site?.disconnect();
    this.#hasWings = false;
    this.#companions.parted();
  }

  #onMessage(message: HeadToAgent): void {
    if (message.kind === 'orders') {
      for (const order of message.orders) this.#onOrder(order);
    } else if (message.kind === 'log_ack') {
      this.#outputs.acknowledge(message);
    } else if (message.kind === 'site_cancel') {
      this.#ports.site?.cancel(message.jobs);
    } else if (message.kind === 'site_ask') {
      this.#ports.site?.ask(message.jobs);
    } else if (message.kind === 'site_holds') {
      this.#ports.site?.hold(message.jobs);
    } else if (message.kind === 'site_stops') {
      this.#ports.site?.stop(message.stops, message.number ?? 0);
    } else if (message.kind === 'stdin') {
      this.#feeds.take(message);
    } else if (message.kind === 'wing') {
      this.#companions.heard(message.wing, message.body);
    }
  }

  #onOrder(order: Order): void {
    if (order.kind === 'pause' || order.kind === 'unpause') return this.pausing.order(order);
    if (order.kind !== 'launch') return this.#engine.step({ kind: 'order', order });
    const why = this.#faults.current();
    if (why === null) return this.#engine.step({ kind: 'order', order });
    this.#engine.step({ kind: 'refused', epochId: order.epochId, life: order.life, why });
  }

  #onAdopted(): void {
    this.#faults.look();
    this.#companions.adopt();
    this.#engine.resume();
  }

  /** At once: the head must know before it hears of orders refused for it, and sends no more. */
  #onFault(): void {
    const fault = this.#faults.current();
    this.#ports.log.warn(
      { fault },
      fault === null ? 'this node takes new work again' : 'this node takes no new work',
    );
    if (fault !== null) this.#engine.step({ kind: 'closed' });
    this.#link.sayAlive();
  }

  /**
   * Looks at the disk before a start that failed is told. A disk that has filled up since the last
   * look is told first: it keeps further starts away, and this one is not held against the node.
   */
  #stepStart(input: RunnerInput): void {
    if (isFailedStart(input)) this.#faults.look();
    this.#engine.step(input);
  }

  /** The launcher is told first: it never waits, least of all for a disk. */
  #onHeard(sentAt: number): void {
    this.#launcher.processes?.heard(sentAt);
    this.#engine.step({ kind: 'heard', sentAt });
  }

  introduce(changed: Introduction): void {
    const { labels, resources, facts } = this.#introduction;
    const { labels: newLabels, resources: newResources, ...newFacts } = changed;
    this.#introduction = {
      labels: newLabels ?? labels,
      resources: newResources ?? resources,
      facts: { ...facts, ...newFacts },
    };
    this.#ports.log.info({ ...changed }, 'what is to be known of this node has changed');
    this.#link.introduce();
  }

  #hello(): NodeHello {
    const { node, bootId, instance, sharedPaths } = this.#settings;
    const { labels } = this.#introduction;
    const takesFrom = this.#companions.kept()?.takesFrom ?? null;
    const said = this.#introduction.facts;
    const facts = takesFrom === null ? said : { ...said, takesFrom };
    const own = { node, bootId, instance, labels, sharedPaths, facts, ...this.#offer() };
    const fault = this.#faults.look();
    const pausing = this.pausing.hello();
    return {
      ...own,
      ...this.#boot(),
      ...pausing,
      held: heldEpochs(this.state, this.#ports.clock.now()),
      ...(fault === null ? {} : { fault }),
    };
  }

  #offer(): Pick<NodeHello, 'resources' | 'gpus'> {
    const report = this.#companions.gpus();
    const resources = this.#withoutKept(this.#introduction.resources, report === null);
    if (report === null) return { resources };
    const counted = { ...report.counted, ...resources.counted };
    return { resources: { ...resources, gpuCount: report.count, counted }, gpus: report.gpus };
  }

  /** `counts`: gpus are known by their number alone. */
  #withoutKept(all: Resources, counts: boolean): Resources {
    const kept = this.#companions.kept();
    if (kept === null) return all;
    const cpuCount = Math.max(0, all.cpuCount - kept.cpuCount);
    const gpuCount = counts ? Math.max(0, all.gpuCount - kept.gpuCount) : all.gpuCount;
    return { ...all, cpuCount, gpuCount };
  }

  /** Which machine this is, and for how long. */
  #boot(): Pick<NodeHello, 'machine' | 'upMs'> {
    const { machine, bootBeganAt } = this.#settings;
    const upMs = bootBeganAt === undefined ? null : this.#ports.clock.monotonic() - bootBeganAt;
    return { ...(machine === undefined ? {} : { machine }), ...(upMs === null ? {} : { upMs }) };
  }
}

function hasStarted(epoch: Epoch | undefined): boolean {
  return epoch?.run?.processes.some((process) => process.state !== 'requested') ?? false;
}

function isFailedStart(input: RunnerInput): boolean {
  if (input.kind !== 'process') return input.kind === 'prepare_failed';
  const { kind } = input.event;
  return kind === 'failed' || kind === 'refused' || kind === 'unstartable';
}
