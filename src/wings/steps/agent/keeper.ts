// The steps of one node: started when the head says so, ended with their tasks, and told of to
// every head that the node meets.

import type { AgentInside, Companion } from '../../../kernel/agent/part.ts';
import { err, ok, type Result } from '../../../kernel/base/result.ts';
import type { EpochId } from '../../../kernel/model/ids.ts';
import type { Epoch } from '../../../kernel/runner/epoch.ts';
import { type BindWish, cpusOf, formatCpus, tooFewCpus } from '../core/binding.ts';
import { CLOSED_MAX, PROCESSES_MAX } from '../core/limits.ts';
import {
  type Claimed,
  type ClaimWish,
  type News,
  newsOfAll,
  readWish,
  type StartWish,
  WING,
} from '../core/told.ts';
import type { Cpu } from '../model/cpu.ts';
import type { StepPorts } from '../ports/steps.ts';
import { StepProcess } from './process.ts';

export class StepKeeper implements Companion {
  readonly #agent: AgentInside;
  readonly #ports: StepPorts;
  /**
   * Those that run, and those that are over as long as their task is here or somebody reads them.
   */
  readonly #processes = new Map<string, StepProcess>();
  #hears = false;

  constructor(agent: AgentInside, ports: StepPorts) {
    this.#agent = agent;
    this.#ports = ports;
  }

  greeted(hears: boolean): void {
    this.#hears = hears;
    this.#forget();
    const all = [...this.#processes.values()].map(({ told }) => told);
    for (const news of newsOfAll(all)) this.#say(news);
  }

  parted(): void {
    this.#hears = false;
  }

  heard(wing: string, body: unknown): void {
    if (wing !== WING) return;
    const wish = readWish(body);
    if (wish?.do === 'start') void this.#start(wish);
    else if (wish?.do === 'stop') for (const process of this.#live(wish.step)) process.hangUp();
    else if (wish?.do === 'claim') this.#claim(wish);
    else if (wish?.do === 'watch')
      this.#processes.get(`${wish.step}:${wish.rank}`)?.watch(wish.watch);
    else if (wish !== null)
      for (const process of this.#live(wish.step)) process.signalProgram(wish.signal);
  }

  #live(step: string): StepProcess[] {
    return [...this.#processes.values()].filter(({ wish, isLive }) => wish.step === step && isLive);
  }

  ended({ order: { epochId } }: Epoch): void {
    this.#ports.cpus.giveBack(this.#claimOf(epochId));
    for (const process of this.#of(epochId)) process.kill();
  }

  stop(): void {
    for (const process of this.#processes.values()) process.close();
    this.#processes.clear();
  }

  async #start(wish: StartWish): Promise<void> {
    const key = `${wish.step}:${wish.rank}`;
    // Said twice it is started once.
    if (this.#processes.has(key)) return;
    const running = this.#of(wish.epochId).filter(({ isLive }) => isLive).length;
    // Of one too many nothing is made, not even a line.
    if (running >= PROCESSES_MAX) {
      return this.#refuse(wish, `its task has ${PROCESSES_MAX} processes of steps on this node`);
    }
    const process: StepProcess = new StepProcess({
      agent: this.#agent,
      ports: this.#ports,
      wish,
      changed: () => this.#say({ isAll: false, processes: [process.told] }),
      over: () => this.#forget(),
    });
    this.#processes.set(key, process);
    const epoch = this.#agent.state.epochs.get(wish.epochId);
    if (epoch?.phase !== 'running') return process.fail('its task does not run on this node');
    const joining = await this.#agent.beside.joining(epoch);
    if (!joining.ok) return process.fail(joining.error);
    // Cpus claimed for one that is over would never be given back.
    const isHere = this.#agent.state.epochs.get(wish.epochId) === epoch;
    if (!isHere || epoch.phase !== 'running') return process.fail('its task has ended');
    const cpus = this.#bind(wish, epoch);
    if (!cpus.ok) return process.fail(cpus.error);
    await process.start(joining.value, cpus.value);
  }

  #refuse({ step, rank, count, epochId, command, by }: StartWish, why: string): void {
    const now = this.#agent.ports.clock.now();
    const over = { startedAt: now, endedAt: now, end: { why } };
    this.#say({ isAll: false, processes: [{ step, rank, count, epochId, command, by, ...over }] });
  }

  #claimOf(epochId: string): string {
    return `${this.#ports.node} ${epochId}`;
  }

  #claim({ claim: claimed, epochId, to, of }: ClaimWish): void {
    const cpus = this.#cpusFor(epochId, { to, of });
    this.#tell(cpus.ok ? { claimed, cpus: cpus.value } : { claimed, why: cpus.error });
  }

  /** Cpus of each process. */
  #cpusFor(epochId: EpochId, { to, of }: Omit<BindWish, 'local'>): Result<string[], string> {
    const epoch = this.#agent.state.epochs.get(epochId);
    if (epoch?.phase !== 'running') return err('its task does not run');
    const { cpuCount } = epoch.order.share.resources;
    const few = tooFewCpus(to, of, cpuCount);
    if (few !== null) return err(few);
    const held = this.#held(epoch);
    if (!held.ok) return held;
    const cpus = Array.from({ length: of }, (_, local) => cpusOf(held.value, { to, local, of }));
    return ok(cpus.map(formatCpus));
  }

  /** An error says why not; null: to none. */
  #bind({ bind }: StartWish, epoch: Epoch): Result<string | null, string> {
    if (bind === undefined) return ok(null);
    const held = this.#held(epoch);
    return held.ok ? ok(formatCpus(cpusOf(held.value, bind))) : held;
  }

  #held({ order: { epochId, share } }: Epoch): Result<readonly Cpu[], string> {
    const cards = this.#agent.gpus()?.cards ?? [];
    const near = cards.flatMap(({ number, numaNode }) => {
      return numaNode !== undefined && share.gpus.includes(number) ? [numaNode] : [];
    });
    return this.#ports.cpus.claim(this.#claimOf(epochId), share.resources.cpuCount, near);
  }

  #of(epochId: string): StepProcess[] {
    return [...this.#processes.values()].filter(({ wish }) => wish.epochId === epochId);
  }

  /**
   * Processes that are over and read, or for which nobody comes, and whose task is not here any
   * more.
   */
  #forget(): void {
    for (const [key, process] of this.#processes) {
      if (process.isLive || !process.isClosed) continue;
      if (!this.#agent.state.epochs.has(process.wish.epochId)) this.#processes.delete(key);
    }
    this.#forgetOldest();
  }

  /** A long task may have any number of steps: of those that are over a head hears the newest. */
  #forgetOldest(): void {
    const closed = [...this.#processes].filter(([, { isClosed }]) => isClosed);
    for (const [key] of closed.slice(0, Math.max(0, closed.length - CLOSED_MAX)))
      this.#processes.delete(key);
  }

  #say(news: News): void {
    this.#tell(news);
  }

  #tell(word: News | Claimed): void {
    if (this.#hears) this.#agent.say(WING, word);
  }
}
