// The head's side of agent sessions: hello, reports, heartbeats, logs in; orders and
// acknowledgements out. And the clock of each node's silence.

import { unreachable } from '../base/assert.ts';
import type { Task } from '../machine/jobs/facts.ts';
import { seemsRebooted } from '../machine/nodes/clones.ts';
import { cloneWords } from '../machine/nodes/machine.ts';
import type { Reply } from '../machine/reply.ts';
import { formatRefusal, refuse } from '../model/errors.ts';
import type { NodeGpus } from '../model/gpu.ts';
import type { NodeName } from '../model/ids.ts';
import type { Stamp, Standing } from '../model/life.ts';
import type { MemoryUse } from '../model/memory-use.ts';
import type { NodeHello } from '../model/node.ts';
import { NODE_FEATURES } from '../model/node-features.ts';
import type { Order } from '../model/orders.ts';
import type { Presence } from '../model/presence.ts';
import type { KnownSite, SiteHang, SiteStart } from '../model/site.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Session } from '../ports/net.ts';
import type { SiteStanding } from '../scheduler/room/brokerage.ts';
import { decodeAgentMessage } from '../wire/codec.ts';
import {
  type AgentToHead,
  HEAD_FEATURES,
  type NodeLoad,
  PROTOCOL_VERSION,
} from '../wire/messages.ts';
import { OrderWriter } from '../wire/orders.ts';
import {
  answer,
  type Link,
  linkOf,
  refuseLink,
  sessionOf,
  tell,
  tellOrders,
} from './agent-link.ts';
import type { Engine } from './engine.ts';
import { type Gateways, type GatewayWorld, NO_GATEWAYS } from './gateways.ts';
import { LastHeard } from './last-heard.ts';
import type { LogSink } from './log-sink.ts';
import { OutputGate } from './output-gate.ts';
import type { Stamps } from './stamps.ts';
import type { Fed, FeedPiece } from './stdin/feeder.ts';

export interface AgentsOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly logs: LogSink;
  readonly heartbeatMs: number;
  /** How often `tick` is called; a head that is much later has stood still. */
  readonly lookMs: number;
  readonly logBytesMax: number;
  /** Absent: nodes are told nothing of how far the head has come. */
  readonly stamps?: Stamps;
  /** Absent: no node speaks for a site. */
  readonly gateways?: (world: GatewayWorld) => Gateways;
}

/** What a wing's agents say. `body`: whatever a node sends. */
export type HearWing = (node: NodeName, body: unknown) => void;

/** Longer than agents take to dial again. */
const COMING_MS = 6_000;
/** Heartbeats in a row that are late only where a machine is down, or its network. */
const HEARTBEATS_MISSED = 2;
/** Orders that show no effect are sent again after this long. */
const RESEND_MS = 5_000;

export class Agents {
  readonly #options: AgentsOptions;
  readonly #gateways: Gateways;
  readonly #links = new Map<NodeName, Link>();
  readonly #lastHeard: LastHeard;
  /** The last hello of each node, by its own clock. */
  readonly #newest = new Map<NodeName, { readonly bootId: string; readonly dialedAt: number }>();
  #resentAt = 0;
  #heartbeatMs: number;
  #engine: Engine | null = null;
  #outputs: OutputGate | null = null;
  #onFed: (fed: Fed) => void = () => undefined;
  readonly #wings = new Map<string, HearWing>();

  constructor(options: AgentsOptions) {
    this.#options = options;
    this.#heartbeatMs = options.heartbeatMs;
    const { clock, log, lookMs } = options;
    const onStall = (ms: number): void =>
      log.warn({ ms }, 'the head stood still; that time is not counted as silence of its nodes');
    this.#lastHeard = new LastHeard({ clock, lookMs, onStall });
    const linkOf = (node: NodeName) => this.#links.get(node);
    const world = { clock, engine: () => this.#engine, linkOf };
    this.#gateways = options.gateways?.(world) ?? NO_GATEWAYS;
  }

  /** The engine sends through this object, so it comes second. */
  attach(engine: Engine): void {
    this.#engine = engine;
    this.#outputs = new OutputGate(engine, this.#options);
    // Reading the store may have taken longer than a node's time-out.
    this.beginHearing();
  }

  /** Nodes can be heard from now on: the silence of those that were not counts from here. */
  beginHearing(): void {
    this.#lastHeard.begin();
  }

  /** `session.peer` is the node's name, as its secret proved it. */
  accept(session: Session): void {
    const link = linkOf(session);
    session.onMessage((bytes) => this.#receive(link, bytes));
    session.onClose((why) => this.#closed(link, why));
  }

  /** Load figures of a connected node, by its last heartbeat. A site's node has none of its own. */
  load(node: NodeName): NodeLoad | null {
    const site = this.#engine?.state.nodes.get(node)?.facts?.site;
    if (site !== undefined && site !== node) return null;
    return this.#links.get(node)?.load ?? null;
  }

  /** Users of a connected node's machine, as last reported; null when the node does not look. */
  presence(node: NodeName): readonly Presence[] | null {
    return this.#links.get(node)?.presence ?? null;
  }

  /** What gateways said of their sites; of nodes that are still there. */
  sites(): readonly KnownSite[] {
    return this.#gateways.sites;
  }

  /** The job of a site that is this start of a task; undefined: none is known. */
  startAtSite(task: Task): SiteStart | undefined {
    return this.#gateways.startOf(task);
  }

  /** The site of this task that does not answer; undefined: all do that it has. */
  siteHang(task: Task): SiteHang | undefined {
    return this.#gateways.hangOf(task);
  }

  /** Queues of the sites whose own schedulers decide. */
  standings(): ReadonlyMap<NodeName, SiteStanding> {
    return this.#gateways.standings();
  }

  /** Ms that the wall clock of a connected node is ahead of ours; null when it has not said. */
  clockOffsetMs(node: NodeName): number | null {
    return this.#links.get(node)?.offset.ms ?? null;
  }

  silentMs(node: NodeName): number {
    return this.#lastHeard.silentMs(node);
  }

  send(node: NodeName, orders: readonly Order[]): void {
    const link = this.#links.get(node);
    if (link !== undefined && sessionOf(link) !== null) tellOrders(link, orders, this.#stamp);
  }

  /** How far the head has come, for who may have to tell it. */
  get #stamp(): Stamp | null {
    const engine = this.#engine;
    // Of a copy that is not the newest, they would tell the newest as something that it lacks.
    if (engine === null || engine.failure !== null || !engine.seemsNewest) return null;
    return this.#options.stamps?.make(engine) ?? null;
  }

  get #stamped(): { readonly stamp?: Stamp } {
    const stamp = this.#stamp;
    return stamp === null ? {} : { stamp };
  }

  /** A piece of standard input for a process there; false when the node cannot be told of it. */
  feed(node: NodeName, piece: FeedPiece): boolean {
    const link = this.#links.get(node);
    if (link === undefined || sessionOf(link) === null || !link.isFed) return false;
    tell(link, { kind: 'stdin', ...piece });
    return true;
  }

  /** The number of the connection over which wings talk with the node; null: there is none now. */
  wingSession(node: NodeName): number | null {
    const link = this.#links.get(node);
    return link?.hasWings === true ? sessionOf(link) : null;
  }

  /** To the other half of a wing; false when the node cannot be told of it. */
  tellWing(node: NodeName, wing: string, body: object): boolean {
    const link = this.#links.get(node);
    if (link === undefined || this.wingSession(node) === null) return false;
    tell(link, { kind: 'wing', wing, body });
    return true;
  }

  /** Called with what the other half of a wing says; of one that nobody hears nothing is kept. */
  hearWing(wing: string, heard: HearWing): void {
    this.#wings.set(wing, heard);
  }

  /** Called with how far a process has been given its standard input. */
  onFed(heard: (fed: Fed) => void): void {
    this.#onFed = heard;
  }

  /** How often agents say that they live. */
  get heartbeatMs(): number {
    return this.#heartbeatMs;
  }

  /** Agents are told in their welcome how long to wait for what: they dial again for a new one. */
  welcomeAgain(heartbeatMs: number): void {
    this.#heartbeatMs = heartbeatMs;
    for (const link of [...this.#links.values()]) link.session.close('new settings; dial again');
  }

  /** All sessions start anew: what they were told may not be durable. */
  reset(why: string): void {
    for (const link of [...this.#links.values()]) link.session.close(why);
    this.#links.clear();
    this.#lastHeard.reset();
  }

  /** Called every `lookMs`: judges silence and repeats what was not heeded. */
  tick(): void {
    const engine = this.#engine;
    this.#lastHeard.look();
    if (engine === null) return;
    // Nobody is welcomed meanwhile, so nobody is silent.
    if (engine.failure !== null) return this.beginHearing();
    const nodes = engine.behind === null ? engine.state.nodes.values() : [];
    for (const node of nodes) {
      const silentMs = this.silentMs(node.name);
      if (silentMs < engine.settings.nodeTimeoutMs) continue;
      this.#links.get(node.name)?.session.close(`silent for ${Math.round(silentMs)} ms`);
      if (node.holding.size === 0 && node.unreachableSince !== null) continue;
      engine.perform({ kind: 'silence', node: node.name, silentMs }, () => undefined);
    }
    for (const link of this.#links.values()) this.#gateways.look(link);
    this.#resend(engine);
  }

  #resend(engine: Engine): void {
    const now = this.#options.clock.monotonic();
    if (now - this.#resentAt < RESEND_MS) return;
    this.#resentAt = now;
    for (const link of this.#links.values()) engine.repeatOrders(link.node);
  }

  #receive(link: Link, bytes: Uint8Array): void {
    const message = decodeAgentMessage(bytes);
    if (!message.ok) {
      this.#options.log.warn({ node: link.node, error: message.error }, 'unreadable message');
      link.session.close(`unreadable message: ${message.error}`);
      return;
    }
    if (sessionOf(link) !== null) this.#lastHeard.note(link.node);
    this.#handle(link, message.value);
  }

  #handle(link: Link, message: AgentToHead): void {
    switch (message.kind) {
      case 'hello':
        return this.#hello(link, message);
      case 'heartbeat':
        link.load = message.load;
        link.presence = message.presence ?? link.presence;
        this.#noteMemory(link, message.memory);
        link.offset.add(message.at, this.#options.clock.now());
        this.#noteFault(link, message.fault ?? null);
        this.#noteGpus(link, message.gpus);
        return answer(link, message, this.#stamp);
      case 'reports':
        return this.#reports(link, message);
      case 'log':
        return this.#log(link, message);
      case 'site':
        return this.#gateways.hear(link, message.news);
      case 'stdin_ack':
        return this.#onFed(message);
      case 'wing':
        if (sessionOf(link) !== null) this.#wings.get(message.wing)?.(link.node, message.body);
        return;
      default:
        return unreachable(message);
    }
  }

  #noteMemory(link: Link, memory: readonly MemoryUse[] | undefined): void {
    if (memory === undefined || sessionOf(link) === null) return;
    this.#engine?.state.scratch.memory.hear(link.node, memory);
  }

  #noteFault(link: Link, fault: string | null): void {
    const { node } = link;
    const session = sessionOf(link);
    if (session === null || this.#engine?.state.nodes.get(node)?.fault === fault) return;
    this.#engine?.perform({ kind: 'fault', node, session, fault }, () => undefined);
  }

  #noteGpus(link: Link, gpus: NodeGpus | undefined): void {
    const session = sessionOf(link);
    if (gpus === undefined || session === null) return;
    this.#engine?.perform({ kind: 'gpus', node: link.node, session, gpus }, () => undefined);
  }

  #hello(link: Link, message: Extract<AgentToHead, { kind: 'hello' }>): void {
    const engine = this.#engine;
    const { protocol, hello } = message;
    if (engine === null) return refuseLink(link, refuse('head.starting', {}));
    if (protocol !== PROTOCOL_VERSION) {
      const versions = { theirs: String(protocol), ours: String(PROTOCOL_VERSION) };
      return refuseLink(link, refuse('protocol.version', versions));
    }
    if (link.stage.kind !== 'new') return;
    if (this.#isOvertaken(link, message)) {
      link.session.close('a newer connection came first');
      return;
    }
    if (this.#isTooSoon(engine, link, hello)) {
      link.session.close('the node may still be up in an earlier boot; dial again');
      return;
    }
    link.stage = { kind: 'greeted' };
    // It is heard now, not when its hello is durable: the tick in between must not find it silent.
    const before = this.#lastHeard.of(link.node);
    const heardMsAgo = this.#lastHeard.msAgo(link.node);
    this.#lastHeard.note(link.node);
    // A node speaks for itself only: the name is the one that its secret proved.
    const features = NODE_FEATURES.filter((feature) => message.features.includes(feature));
    const own = { ...hello, node: link.node, features };
    link.isFed = features.includes('stdin');
    link.hasWings = message.features.includes('wings');
    link.orders = new OrderWriter({ sharesScripts: message.features.includes('scripts') });
    this.#gateways.greeted(link, message.features, hello.facts.site);
    let number = 0;
    const session = engine.state.nodes.get(link.node)?.session ?? 0;
    const heard = this.#heard(link, message.stamp);
    const what = {
      ...(heard === null ? {} : { known: { heard, ownSeq: engine.seq } }),
      ...(heardMsAgo === undefined ? {} : { heardMsAgo }),
    };
    engine.perform({ kind: 'hello', hello: own, ...what }, (result) => {
      if (!result.ok) return refuseLink(link, result.error);
      if (result.value.kind === 'node_cloned') return this.#refuseClone(link, result.value);
      if (!this.#isCurrent(engine, link, number)) return;
      this.#links.get(link.node)?.session.close('replaced by a newer connection');
      this.#links.set(link.node, link);
      link.stage = { kind: 'welcomed', session: number, reports: 0 };
      tell(link, {
        kind: 'welcome',
        session: number,
        heartbeatMs: this.#heartbeatMs,
        nodeTimeoutMs: engine.settings.nodeTimeoutMs,
        killGraceMs: engine.settings.killGraceMs,
        logBytesMax: this.#options.logBytesMax,
        features: HEAD_FEATURES,
        ...this.#stamped,
      });
    });
    // Decided already, though not yet durable: a second hello of the node has another number.
    number = engine.state.nodes.get(link.node)?.session ?? 0;
    // It was another machine: the node itself was not heard.
    if (number === session) this.#lastHeard.restore(link.node, before);
    else this.#newest.set(link.node, { bootId: hello.bootId, dialedAt: message.dialedAt });
  }

  /**
   * A machine that was restarted has been silent before. Who was heard just now under another boot
   * is up, and so may be who has not had the time to come back to a head that was started: the
   * newcomer may be its copy, started this very moment (N18).
   */
  #isTooSoon({ state }: Engine, { node: name }: Link, hello: NodeHello): boolean {
    const node = state.nodes.get(name);
    const heardMsAgo = this.#lastHeard.msAgo(name);
    if (node === undefined || !seemsRebooted(node, { ...hello, node: name }, heardMsAgo))
      return false;
    const patienceMs = heardMsAgo === undefined ? COMING_MS : HEARTBEATS_MISSED * this.#heartbeatMs;
    // What it said while we stood still, or slept, may be on its way.
    return this.#lastHeard.silentMs(name) < patienceMs;
  }

  #refuseClone(link: Link, { refusal }: Extract<Reply, { kind: 'node_cloned' }>): void {
    const node = this.#engine?.state.nodes.get(link.node);
    const words = node === undefined ? null : cloneWords(node);
    this.#options.log.error({ node: link.node, words }, formatRefusal(refusal));
    refuseLink(link, refusal);
  }

  /** What a node says of this head counts only if a head has said so. */
  #heard({ node }: Link, stamp: Stamp | undefined): Standing | null {
    const { stamps, log } = this.#options;
    if (stamps === undefined || stamp === undefined) return null;
    const verdict = stamps.judge(stamp);
    if (verdict === 'true') return stamp;
    const words =
      verdict === 'forged'
        ? 'a node says what no head has said of itself; it is not believed'
        : 'a node has heard of another cluster, or of this one before its stamp.key was made';
    log.warn({ node }, words);
    return null;
  }

  /**
   * Whether the agent has dialed again since: what the older hello says of its epochs is no longer
   * true, though its bytes came later. The clock of one boot goes on when an agent is restarted.
   */
  #isOvertaken({ node }: Link, message: Extract<AgentToHead, { kind: 'hello' }>): boolean {
    const { hello, dialedAt } = message;
    const newest = this.#newest.get(node);
    return newest?.bootId === hello.bootId && dialedAt < newest.dialedAt;
  }

  /** Between a hello and its record the link may go, or the node be given up or dial once more. */
  #isCurrent(engine: Engine, link: Link, number: number): boolean {
    const node = engine.state.nodes.get(link.node);
    if (link.stage.kind !== 'closed' && node?.session === number && node.connected) return true;
    const disconnected = { kind: 'disconnected', node: link.node, session: number } as const;
    engine.perform(disconnected, () => undefined);
    link.session.close('overtaken; dial again');
    return false;
  }

  #reports(link: Link, message: Extract<AgentToHead, { kind: 'reports' }>): void {
    const engine = this.#engine;
    const { node, stage } = link;
    if (engine === null || stage.kind !== 'welcomed') return;
    const { session } = stage;
    message.reports.forEach((report, at) => {
      const upTo = message.first + at;
      const last = at === message.reports.length - 1;
      engine.perform({ kind: 'report', node, session, report }, (result) => {
        if (!result.ok) return; // The store failed: the agent keeps its report and sends it again.
        if (report.kind === 'task_ended') this.#outputs?.endSilently(node, report);
        stage.reports = Math.max(stage.reports, upTo);
        if (last) tell(link, { kind: 'reports_ack', upTo: stage.reports, ...this.#stamped });
      });
    });
  }

  #log(link: Link, message: Extract<AgentToHead, { kind: 'log' }>): void {
    if (this.#outputs === null || sessionOf(link) === null) {
      link.session.close('output before the welcome');
      return;
    }
    const { name } = message;
    const taken = this.#outputs.take(link.node, message);
    if (taken === null) {
      link.session.close('output arrives faster than the head can write it; dial again');
      return;
    }
    taken.then(
      ({ offset, end }) => tell(link, { kind: 'log_ack', name, offset, end }),
      (error: unknown) => {
        const fields = { node: link.node, epoch: name.epochId, error: String(error) };
        this.#options.log.warn(fields, 'output could not be written; the agent sends it again');
      },
    );
  }

  #closed(link: Link, why: string): void {
    const session = sessionOf(link);
    link.stage = { kind: 'closed' };
    if (session === null || this.#links.get(link.node) !== link) return;
    this.#links.delete(link.node);
    this.#engine?.state.scratch.memory.forget(link.node);
    this.#options.log.info({ node: link.node, why }, 'node disconnected');
    const { node } = link;
    this.#engine?.perform({ kind: 'disconnected', node, session }, () => undefined);
  }
}
