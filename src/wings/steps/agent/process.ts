// One process of a step on its node: the helper that runs it, the pipes to that, and the stream to
// whoever started it.

import type { AgentInside, Joining } from '../../../kernel/agent/part.ts';
import type { ProcessEvent } from '../../../kernel/model/processes.ts';
import type { Timer } from '../../../kernel/ports/clock.ts';
import { stepEnvironment } from '../core/environment.ts';
import {
  COMMAND_LENGTH_MAX,
  HANG_UP_MS,
  LINGER_MS,
  PIECE_BYTES_MAX,
  WATCHERS_MAX,
} from '../core/limits.ts';
import type { StartWish, StepEnd, ToldProcess } from '../core/told.ts';
import type { StepPipes, StepPorts } from '../ports/steps.ts';
import { Channel } from '../wire/channel.ts';
import {
  FROM_STEP,
  type Frame,
  FrameReader,
  frame,
  readEnded,
  signalFrame,
} from '../wire/frames.ts';
import { Redial } from './line.ts';
import { Watcher } from './watcher.ts';

const SIGHUP = 1;
const SIGKILL = 9;
const SIGTERM = 15;
const ENDED = 'its task has ended';
const FULL = `${WATCHERS_MAX} look at it already; come again when one of them has left`;
/** For what lies in the pipe of a step whose task has ended. */
const REST_MS = 5_000;

export interface ProcessWorld {
  readonly agent: Pick<AgentInside, 'ports' | 'beside'>;
  readonly ports: StepPorts;
  readonly wish: StartWish;
  /** Something of what is told of it is new. */
  readonly changed: () => void;
  /** Nobody needs it any more. */
  readonly over: () => void;
}

export class StepProcess {
  readonly #world: ProcessWorld;
  readonly #channel: Channel;
  readonly #redial: Redial;
  readonly #reader = new FrameReader();
  readonly #startedAt: number;
  #endedAt: number | null = null;
  /** How it has ended, as it is said to whoever looks. */
  #last: Buffer | null = null;
  #end: StepEnd | null = null;
  #pipes: StepPipes | null = null;
  /** Words for the program before its pipes are there; input among them is not taken meanwhile. */
  #early: (() => void)[] = [];
  #launchId: number | null = null;
  #lingering: Timer | null = null;
  /** Set while a hang-up takes its course. */
  #hangingUp: Timer | null = null;
  #isCutOff = false;
  #isKilled = false;
  /** The helper has ended; something of what it said may still lie in its pipe. */
  #isGone = false;
  #isOver = false;
  #cpus: string | null = null;
  readonly #watchers = new Set<Watcher>();

  constructor(world: ProcessWorld) {
    this.#world = world;
    const { clock } = world.agent.ports;
    const { step, rank, epochId } = world.wish;
    this.#startedAt = clock.now();
    this.#channel = new Channel({
      bytes: (bytes) => this.#give(bytes),
      drained: () => this.#pipes?.resume(),
      joined: (isJoined) => this.#linger(!isJoined),
      bye: () => this.#finish(),
    });
    this.#redial = new Redial({
      clock,
      dial: () => world.ports.dial({ step, rank, epochId }),
      channel: this.#channel,
      broken: () => this.hangUp(),
    });
    this.#linger(true);
  }

  get wish(): StartWish {
    return this.#world.wish;
  }

  get isLive(): boolean {
    return this.#end === null;
  }

  /** Nobody reads of it any more. */
  get isClosed(): boolean {
    return this.#isOver;
  }

  get told(): ToldProcess {
    const { step, rank, count, epochId, command, by, cpuCount } = this.#world.wish;
    const [startedAt, endedAt, end] = [this.#startedAt, this.#endedAt, this.#end];
    const told = { step, rank, count, epochId, command, by, startedAt, endedAt, end };
    const given = cpuCount === undefined ? told : { ...told, cpuCount };
    return this.#cpus === null ? given : { ...given, cpus: this.#cpus };
  }

  /** Somebody wants to see what its program writes from now on, or how it has ended. */
  watch(watch: string): void {
    const { step, rank, epochId } = this.wish;
    const watcher: Watcher = new Watcher({
      clock: this.#world.agent.ports.clock,
      dial: () => this.#world.ports.dial({ step, rank, epochId, watch }),
      gone: () => this.#watchers.delete(watcher),
    });
    const isFull = this.#watchers.size >= WATCHERS_MAX;
    // Whoever asks is answered: they have no other way to know.
    const last = this.#last ?? (isFull ? goneFrame(FULL) : null);
    if (!isFull) this.#watchers.add(watcher);
    if (last !== null) watcher.end(last);
  }

  /** Never rejects. `cpus`: null: it is not bound. */
  async start({ request, mark, owner }: Joining, cpus: string | null): Promise<void> {
    const { agent, ports, wish } = this.#world;
    const { helper } = ports;
    this.#cpus = cpus;
    if (helper === null) return this.fail('its node has no launcher that could start steps');
    try {
      const name = `${wish.step.replace('[', '.').replace(']', '')}-${wish.rank}`;
      this.#pipes = await ports.makePipes(name, owner);
    } catch (error) {
      return this.fail(`its pipes cannot be made: ${(error as Error).message}`);
    }
    if (this.#isKilled || this.#isOver) return this.fail(ENDED);
    if (this.#hangingUp !== null) return this.fail('it was hung up before it began');
    const pipes = this.#pipes;
    pipes.onBytes((bytes) => this.#hear(bytes));
    this.#writeEarly();
    const like = {
      ...request,
      argv: [...helper, ...wish.argv],
      environment: stepEnvironment(request.environment, wish, mark, cpus),
      cwd: wish.directory ?? request.cwd,
      stdin: pipes.inPath,
      stdout: pipes.outPath,
      stderr: '',
      append: true,
      makeParents: false,
    };
    this.#launchId = agent.beside.start(like, (event) => this.#onLaunch(event));
    if (this.#launchId === null) this.fail('its node has no launcher now');
    else if (cpus !== null) this.#world.changed();
  }

  /** The end of one that never began, or of which nobody knows more. */
  fail(why: string): void {
    this.#over({ why });
  }

  /** Sends its program a signal; a kill that is not heeded is meant for its helper, too. */
  signalProgram(signal: number): void {
    if (!this.isLive || this.#isGone) return;
    this.#write(signalFrame(signal));
    if (signal === SIGKILL) this.#world.agent.ports.clock.after(HANG_UP_MS, () => this.#cutOff());
  }

  /** Like a terminal that goes away. */
  hangUp(): void {
    if (!this.isLive) this.#finish();
    else if (this.#isGone) this.fail('nobody took what it had written');
    else {
      this.#write(signalFrame(SIGHUP));
      this.#insist();
    }
  }

  /** A helper whose program takes no input does not read that word: a signal says the same. */
  #insist(): void {
    if (this.#hangingUp !== null) return;
    const { clock } = this.#world.agent.ports;
    this.#hangingUp = clock.after(HANG_UP_MS, () => {
      this.#signal(SIGTERM);
      this.#hangingUp = clock.after(HANG_UP_MS, () => this.#cutOff());
    });
  }

  #cutOff(): void {
    if (!this.isLive) return;
    this.#isCutOff = true;
    this.#signal(SIGKILL);
  }

  #signal(signal: number): void {
    if (this.#launchId !== null && this.isLive && !this.#isGone)
      this.#world.agent.beside.signal(this.#launchId, signal);
  }

  /** The end of its task. */
  kill(): void {
    this.#isKilled = true;
    this.#signal(SIGKILL);
  }

  /** Nothing is heard or said any more. */
  close(): void {
    this.#isOver = true;
    this.#lingering?.cancel();
    this.#hangingUp?.cancel();
    this.#redial.close();
    if (this.isLive) for (const watcher of [...this.#watchers]) watcher.close();
    this.#pipes?.close();
    this.#pipes = null;
  }

  #give(bytes: Buffer): void {
    this.#write(bytes, () => this.#channel.take(bytes.length));
  }

  /** The client may be here before the pipes are; to a program that is over nothing is said. */
  #write(bytes: Buffer, taken = (): void => undefined): void {
    if (this.#isOver || !this.isLive) taken();
    else if (this.#pipes === null) this.#early.push(() => this.#write(bytes, taken));
    else this.#pipes.write(bytes).then(taken, taken);
  }

  #writeEarly(): void {
    for (const write of this.#early.splice(0)) write();
  }

  #hear(bytes: Buffer): void {
    const frames = this.#reader.take(bytes);
    // The helper is ours, but runs as the task's user.
    if (!frames.ok) return this.kill();
    for (const one of frames.value) this.#pass(one);
  }

  #pass({ kind, payload }: Frame): void {
    if (!this.isLive) return;
    if (kind === FROM_STEP.ended) {
      const ended = readEnded(payload);
      if (ended !== null) this.#over(ended, frame(kind, payload));
    } else if (kind === FROM_STEP.failed) {
      this.#over({ exit: { code: 127 } }, frame(kind, payload));
    } else {
      const bytes = frame(kind, payload);
      for (const watcher of this.#watchers) if (kind !== FROM_STEP.pmi) watcher.show(bytes);
      if (!this.#channel.write(bytes)) this.#pipes?.pause();
    }
  }

  #onLaunch(event: ProcessEvent): void {
    if (event.kind === 'exited') {
      this.#isGone = true;
      const why = this.#isKilled ? ENDED : 'it was killed with its helper';
      this.#pipes?.finish(() => this.fail(why));
      // Whoever reads slowly does not keep what its task has left.
      const isRude = this.#isKilled || this.#isCutOff;
      if (isRude) this.#world.agent.ports.clock.after(REST_MS, () => this.fail(why));
    } else if (event.kind === 'failed') {
      this.fail(
        event.stage === 'chdir'
          ? `its folder is not there, or may not be entered (error ${event.errno})`
          : `its helper could not be started (${event.stage}, error ${event.errno})`,
      );
    } else if (event.kind === 'lost') this.fail('the launcher of its node is lost');
  }

  #over(end: StepEnd, last?: Buffer): void {
    if (!this.isLive) return;
    this.#hangingUp?.cancel();
    // A head takes no longer word.
    this.#end = 'why' in end ? { why: end.why.slice(0, COMMAND_LENGTH_MAX) } : end;
    this.#endedAt = this.#world.agent.ports.clock.now();
    this.#writeEarly();
    this.#last = last ?? goneFrame('why' in end ? end.why : '');
    for (const watcher of this.#watchers) watcher.end(this.#last);
    this.#channel.write(this.#last);
    this.#channel.end();
    this.#world.changed();
  }

  /** The client has all of it, or does not come for it. */
  #finish(): void {
    if (this.isLive) {
      // Whoever left waits for this word: a bye is not sent again like bytes.
      this.#channel.end();
      return this.hangUp();
    }
    this.close();
    this.#world.over();
  }

  /**
   * Somebody has come, who takes what its program leaves: there is no haste, unless it is killed.
   */
  #spare(): void {
    if (this.#isCutOff) return;
    this.#hangingUp?.cancel();
    this.#hangingUp = null;
  }

  /** Without anybody at the other end it goes on for a while: a line may come again. */
  #linger(isAlone: boolean): void {
    this.#lingering?.cancel();
    this.#lingering = null;
    if (!isAlone) return this.#spare();
    if (this.#isOver) return;
    const { clock } = this.#world.agent.ports;
    this.#lingering = clock.after(this.wish.lingerMs ?? LINGER_MS, () => this.hangUp());
  }
}

function goneFrame(why: string): Buffer {
  return frame(FROM_STEP.gone, Buffer.from(why).subarray(0, PIECE_BYTES_MAX));
}
