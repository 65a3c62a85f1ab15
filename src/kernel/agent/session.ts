// The connection to the head: dials, says hello, beats, sends numbered reports until they are
// acknowledged, and starts over whenever it breaks. Messages in between are the agent's.

import { formatDuration } from '../base/duration.ts';
import { isSame } from '../base/same.ts';
import type { NodeGpus } from '../model/gpu.ts';
import type { Stamp } from '../model/life.ts';
import type { MemoryUse } from '../model/memory-use.ts';
import type { NodeHello } from '../model/node.ts';
import type { Report } from '../model/orders.ts';
import type { Presence } from '../model/presence.ts';
import type { Chance } from '../ports/chance.ts';
import type { Clock, Timer } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Dialer, Session } from '../ports/net.ts';
import { decodeHeadMessage, encode } from '../wire/codec.ts';
import {
  AGENT_FEATURES,
  type AgentToHead,
  type HeadToAgent,
  type Heartbeat,
  type NodeLoad,
  PROTOCOL_VERSION,
} from '../wire/messages.ts';
import { OrderReader } from '../wire/orders.ts';
import { encodeShortBeat, fitsShortBeat } from '../wire/short-beat.ts';

type Welcome = Extract<HeadToAgent, { kind: 'welcome' }>;

export interface SessionWorld {
  readonly clock: Clock;
  readonly chance: Chance;
  readonly log: Log;
  readonly dialer: Dialer;
  readonly hello: () => NodeHello;
  /** The newest that any head has said of itself; null before the first. */
  readonly stamp: () => Stamp | null;
  readonly load: () => NodeLoad;
  /** Why there should be no new work; null: all is well. */
  readonly fault: () => string | null;
  /** Users of this machine; null when the node does not look. */
  readonly presence: () => readonly Presence[] | null;
  /** The node's cards, the same value as long as nothing has changed; null: nobody looks. */
  readonly gpus: () => NodeGpus | null;
  /** What its tasks have in memory. */
  readonly memory: () => readonly MemoryUse[];
  readonly reports: () => { readonly all: ReadonlyMap<number, Report>; readonly next: number };
  /** True while tasks here follow each other without the head: nobody waits for what it is told. */
  readonly mayReportLater: () => boolean;
  /** True while nothing here has a lease that answers renew. */
  readonly holdsNothing: () => boolean;
  readonly onStamp: (stamp: Stamp) => void;
  readonly onWelcome: (welcome: Welcome) => void;
  readonly onDown: (why: string) => void;
  /** Orders and log acknowledgements. */
  readonly onMessage: (message: HeadToAgent) => void;
  /** The head has heard what was sent at this monotonic instant. */
  readonly onHeard: (sentAt: number) => void;
  readonly onReportsAcknowledged: (upTo: number) => void;
}

/** What `weft agent` and the doctor show. */
export interface LinkStatus {
  readonly state: 'connecting' | 'connected' | 'refused';
  readonly words: string;
}

/** An answer is asked for before the last one is older than this share of the node time-out. */
const ANSWER_SHARE = 1 / 2;
/**
 * The number of instants in a period at which nodes beat. Those of one machine share them: their
 * head is woken for several at once, and for so many groups that a thousand do not hold it up.
 */
const BEATS_APART = 8;
/** The head has one turn for all that comes in so much time. */
const GATHER_MS = 20;
const RETRY_MS_MIN = 200;
/** At most this, and at most a quarter of the node time-out: a head that is back must hear its
 * nodes before it calls them unreachable. */
const RETRY_MS_MAX = 5000;
/** In one message: leaves the connection free for heartbeats in between. */
const REPORTS_PER_MESSAGE_MAX = 200;

export class HeadLink {
  readonly #world: SessionWorld;
  #status: LinkStatus = { state: 'connecting', words: 'not yet connected' };
  #session: Session | null = null;
  #welcome: Welcome | null = null;
  /** What this session was told last of who uses the machine. */
  #presence: readonly Presence[] | null = null;
  /** What this session was told last of the cards. */
  #gpus: NodeGpus | null = null;
  /** What this session was told last of its tasks' memory. */
  #memory: readonly MemoryUse[] = [];
  /** What the orders of this session refer to. */
  #orders = new OrderReader();
  #helloSentAt = 0;
  /** What this node says of itself has changed since, before the head had answered. */
  #isHelloOld = false;
  #answeredAt = 0;
  /** A heartbeat was sent since whose answer may not wait. */
  #isAsked = false;
  /** Serial of the report before the session's first, and of the last one sent in it. */
  #base = 0;
  #sent = 0;
  #retryMs = RETRY_MS_MIN;
  #retryMsMax = RETRY_MS_MAX;
  #timer: Timer | null = null;
  /** Set while reports gather. */
  #gathering: Timer | null = null;
  #stopped = false;

  constructor(world: SessionWorld) {
    this.#world = world;
  }

  get status(): LinkStatus {
    return this.#status;
  }

  start(): void {
    void this.#dial();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#gathering?.cancel();
    this.#session?.close('the agent stops');
  }

  /** Begins a new session: what this node says of itself at the beginning of one has changed. */
  introduce(): void {
    if (this.#welcome !== null) this.#drop('what this node has is another');
    else this.#isHelloOld = this.#session !== null;
  }

  /** False while there is no session. */
  send(message: AgentToHead): boolean {
    if (this.#session === null || this.#welcome === null) return false;
    this.#session.send(encode(message));
    return true;
  }

  /** Sends the reports that this session has not seen: many in one message where that may wait. */
  sendReports(): void {
    if (!this.#world.mayReportLater()) return this.#sendReportsNow();
    this.#gathering ??= this.#world.clock.after(GATHER_MS, () => this.#sendReportsNow());
  }

  #sendReportsNow(): void {
    this.#gathering?.cancel();
    this.#gathering = null;
    if (this.#welcome === null) return;
    const { all, next } = this.#world.reports();
    while (this.#sent + 1 < next) {
      const reports: Report[] = [];
      const first = this.#sent + 1 - this.#base;
      for (let serial = this.#sent + 1; serial < next; serial += 1) {
        if (reports.length === REPORTS_PER_MESSAGE_MAX) break;
        reports.push(all.get(serial) as Report);
      }
      if (!this.send({ kind: 'reports', first, reports })) return;
      this.#sent += reports.length;
    }
  }

  /** A heartbeat, also out of turn: what it says has changed. */
  sayAlive(): void {
    const fault = this.#world.fault();
    const presence = this.#world.presence();
    const isNews = presence !== null && !isSame(presence, this.#presence);
    if (isNews) this.#presence = presence;
    this.#sendHeartbeat({
      kind: 'heartbeat',
      sentAt: this.#world.clock.monotonic(),
      at: this.#world.clock.now(),
      load: this.#world.load(),
      ...(fault === null ? {} : { fault }),
      ...(isNews ? { presence } : {}),
      ...this.#gpuNews(),
      ...this.#memoryNews(),
    });
  }

  #sendHeartbeat(heartbeat: Heartbeat): void {
    const isShort = this.#welcome?.features.includes('short_beats') && fitsShortBeat(heartbeat);
    const mayWait = isShort === true && this.#mayAnswerWait();
    if (!mayWait) this.#isAsked = true;
    if (!isShort) this.send(heartbeat);
    else this.#session?.send(encodeShortBeat({ ...heartbeat, mayWait }));
  }

  /** Whether the head may leave the next heartbeat unanswered. */
  #mayAnswerWait(): boolean {
    if (this.#welcome === null || !this.#world.holdsNothing()) return false;
    const { heartbeatMs, nodeTimeoutMs } = this.#welcome;
    const ageAtNextMs = this.#world.clock.monotonic() + heartbeatMs - this.#answeredAt;
    return ageAtNextMs <= nodeTimeoutMs * ANSWER_SHARE;
  }

  #gpuNews(): { readonly gpus?: NodeGpus } {
    const gpus = this.#world.gpus();
    if (gpus === null || gpus === this.#gpus) return {};
    this.#gpus = gpus;
    return { gpus };
  }

  #memoryNews(): { readonly memory?: readonly MemoryUse[] } {
    const memory = this.#world.memory();
    // One list for each look: that it is the same says that nothing was looked at since.
    if (memory === this.#memory || (memory.length === 0 && this.#memory.length === 0)) return {};
    this.#memory = memory;
    return { memory };
  }

  async #dial(): Promise<void> {
    let session: Session;
    try {
      session = await this.#world.dialer.dial();
    } catch (error) {
      this.#retry(error instanceof Error ? error.message : String(error));
      return;
    }
    if (this.#stopped) {
      session.close('the agent stops');
      return;
    }
    this.#session = session;
    session.onMessage((bytes) => {
      if (this.#session === session) this.#onBytes(bytes);
    });
    session.onClose((why) => {
      if (this.#session === session) this.#onClose(why);
    });
    this.#sayHello(session);
  }

  #sayHello(session: Session): void {
    this.#helloSentAt = this.#world.clock.monotonic();
    const { all, next } = this.#world.reports();
    const oldest = all.keys().next();
    this.#base = Math.min(oldest.value ?? next, next) - 1;
    this.#sent = this.#base;
    const hello = this.#world.hello();
    const dialedAt = this.#helloSentAt;
    const kind = 'hello';
    this.#isHelloOld = false;
    this.#orders = new OrderReader();
    this.#presence = null;
    this.#gpus = hello.gpus ?? null;
    this.#memory = [];
    const stamp = this.#world.stamp();
    const own = { dialedAt, features: AGENT_FEATURES, ...(stamp === null ? {} : { stamp }) };
    session.send(encode({ kind, protocol: PROTOCOL_VERSION, hello, ...own } satisfies AgentToHead));
    // A head that takes the connection but never answers is as good as none.
    this.#timer = this.#world.clock.after(2 * RETRY_MS_MAX, () => {
      this.#drop('the head sent no welcome');
    });
  }

  #onBytes(bytes: Uint8Array): void {
    const decoded = decodeHeadMessage(bytes, this.#orders);
    if (!decoded.ok) {
      this.#world.log.error({ why: decoded.error }, 'the head sent a message that cannot be read');
      this.#drop('unreadable message');
      return;
    }
    this.#onMessage(decoded.value);
  }

  #onMessage(message: HeadToAgent): void {
    // Before what comes with it: what was ordered must not be known without it.
    if ('stamp' in message && message.stamp !== undefined) this.#world.onStamp(message.stamp);
    switch (message.kind) {
      case 'welcome':
        this.#onWelcome(message);
        return;
      case 'refused':
        this.#onRefused(message);
        return;
      case 'heartbeat_ack':
        this.#isAsked = false;
        this.#answeredAt = this.#world.clock.monotonic();
        this.#world.onHeard(message.sentAt);
        return;
      case 'reports_ack':
        // More than was sent can only be an error; taking it would lose reports.
        this.#world.onReportsAcknowledged(Math.min(this.#base + message.upTo, this.#sent));
        return;
      default:
        this.#world.onMessage(message);
    }
  }

  #onWelcome(welcome: Welcome): void {
    if (this.#isHelloOld) return this.#drop('what this node has is another');
    this.#timer?.cancel();
    this.#welcome = welcome;
    this.#retryMs = RETRY_MS_MIN;
    this.#retryMsMax = Math.max(RETRY_MS_MIN, Math.min(RETRY_MS_MAX, welcome.nodeTimeoutMs / 4));
    this.#isAsked = false;
    this.#answeredAt = this.#world.clock.monotonic();
    this.#status = { state: 'connected', words: `session ${welcome.session}` };
    this.#world.log.info({ session: welcome.session }, 'connected to the head');
    this.#world.onHeard(this.#helloSentAt);
    this.#world.onWelcome(welcome);
    this.sendReports();
    this.#beat();
  }

  #beat(): void {
    const welcome = this.#welcome;
    if (welcome === null || this.#stopped) return;
    const sentAt = this.#world.clock.monotonic();
    // After this node stood still the last answer is old of which it has asked for no newer one.
    if (this.#isAsked && sentAt - this.#answeredAt > welcome.nodeTimeoutMs) {
      this.#drop(`the head did not answer for ${formatDuration(welcome.nodeTimeoutMs)}`);
      return;
    }
    this.sayAlive();
    this.#timer = this.#world.clock.after(this.#untilNextMs(welcome), () => this.#beat());
  }

  /** About a period, so that it ends when others of this machine beat, too. */
  #untilNextMs({ heartbeatMs }: Welcome): number {
    const now = this.#world.clock.monotonic();
    const stepMs = heartbeatMs / BEATS_APART;
    return Math.round((now + heartbeatMs) / stepMs) * stepMs - now;
  }

  #onRefused(refused: Extract<HeadToAgent, { kind: 'refused' }>): void {
    const { code, message, details } = refused;
    this.#status = { state: 'refused', words: `${message} (${code})` };
    this.#world.log.error({ code, details }, `the head refused this node: ${message}`);
    this.#retryMs = this.#retryMsMax;
    this.#drop('refused');
  }

  #drop(why: string): void {
    const session = this.#session;
    session?.close(why);
    // Whether or not closing calls back, the session is over for us, once.
    if (session !== null && this.#session === session) this.#onClose(why);
  }

  #onClose(why: string): void {
    this.#session = null;
    this.#welcome = null;
    this.#world.onDown(why);
    this.#retry(why);
  }

  #retry(why: string): void {
    if (this.#stopped) return;
    this.#timer?.cancel();
    if (this.#status.state !== 'refused') this.#status = { state: 'connecting', words: why };
    // Between half and all of it, so that a thousand agents do not come back in one instant.
    const delay = this.#retryMs * (0.5 + this.#world.chance.fraction() / 2);
    this.#retryMs = Math.min(this.#retryMs * 2, this.#retryMsMax);
    this.#world.log.warn({ why, retryMs: Math.round(delay) }, 'not connected to the head');
    this.#timer = this.#world.clock.after(delay, () => void this.#dial());
  }
}
