// A user who starts steps in jobs that run, reads what they write, and notes how they end.

import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Api } from '../../src/kernel/connect/api.ts';
import { SessionCache } from '../../src/kernel/connect/sessions.ts';
import { Failure } from '../../src/kernel/model/failure.ts';
import '../../src/wings/steps/api/paths.ts';
import { StepClient } from '../../src/wings/steps/sdk/step-client.ts';
import { POOL } from './caller.ts';
import type { Worker } from './client.ts';
import type { StepTrial, StepTrials } from './evidence.ts';
import type { Rest } from './faults.ts';
import { livesOf } from './receipts.ts';

const STEP_EVERY_MS = 700;
/** More of them at once make a busy machine busier, and nothing else. */
const OPEN_MAX = 12;
const LINE_BYTES = 4096;
const BEATS_MAX = 40;
/** After everything was mended: a line is given up after a minute. */
const PATIENCE_MS = 120_000;
const ANSWER_MS = 10_000;

interface Means {
  readonly socketPath: string;
  readonly worker: Worker;
  readonly rest: Rest;
  readonly isOver: () => boolean;
}

export class StepUser {
  readonly #means: Means;
  readonly #api: Api;
  readonly #folder: string;
  readonly #trials: StepTrial[] = [];
  readonly #open = new Set<Promise<void>>();
  readonly #refused: Record<string, number> = {};
  readonly #going: Promise<void>;
  #made = 0;

  constructor(means: Means) {
    this.#means = means;
    const location = { kind: 'socket', path: means.socketPath } as const;
    this.#api = new Api({ location, sessions: new SessionCache({}), timeoutMs: ANSWER_MS });
    this.#folder = join(dirname(means.worker.receipts), 'step-receipts');
    mkdirSync(this.#folder);
    this.#going = this.#go();
  }

  /** Resolves when all that was started is told, or was waited for long enough. */
  async end(): Promise<StepTrials> {
    await this.#going;
    await Promise.race([Promise.all(this.#open), sleep(PATIENCE_MS, null, { ref: false })]);
    this.#api.close();
    const files = readdirSync(this.#folder).map((file) => {
      return readFileSync(join(this.#folder, file), 'utf8');
    });
    return { trials: this.#trials, refused: this.#refused, lives: livesOf(files) };
  }

  async #go(): Promise<void> {
    while (!this.#means.isOver()) {
      await this.#means.rest(STEP_EVERY_MS);
      if (this.#open.size >= OPEN_MAX || this.#means.isOver()) continue;
      try {
        await this.#start();
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        this.#refused[error.code] = (this.#refused[error.code] ?? 0) + 1;
      }
    }
  }

  async #start(): Promise<void> {
    const { worker } = this.#means;
    const { jobs } = await this.#api.call('listJobs', { query: { state: 'active', limit: 200 } });
    const own = jobs.filter(({ state, array, nodes, name }) => {
      const isOurs = nodes.every((node) => worker.nodes.some((name) => name === node));
      return state === 'running' && array === null && isOurs && name !== POOL;
    });
    const job = own[this.#made % Math.max(1, own.length)];
    if (job === undefined) return;
    this.#made += 1;
    const [key, beats, exitCode] = [
      `s${this.#made}`,
      1 + ((this.#made * 7) % BEATS_MAX),
      this.#made % 3,
    ];
    const argv = [worker.path, this.#folder, String(beats), String(exitCode), '0', key];
    const from = Date.now();
    const { id, epochId, processes } = await this.#api.call('startStep', {
      params: { id: String(job.id) },
      body: { argv, environment: { CHAOS_LINE_BYTES: String(LINE_BYTES) } },
    });
    const host = processes[0]?.node ?? '';
    const step = { key, id, host, beats, exitCode, from };
    const followed = this.#follow(step, epochId).finally(() => {
      this.#open.delete(followed);
    });
    this.#open.add(followed);
  }

  async #follow(
    step: Pick<StepTrial, 'key' | 'id' | 'host' | 'beats' | 'exitCode' | 'from'>,
    epochId: string | undefined,
  ): Promise<void> {
    const at = this.#trials.length;
    const lines = new Lines();
    const said = () => ({ lines: lines.count, broken: lines.broken });
    this.#trials.push({ ...step, until: step.from, code: null, why: null, ...said() });
    const client = new StepClient(
      this.#api,
      { id: step.id, rank: 0, epochId },
      {
        out: async (bytes) => lines.take(bytes),
        error: async () => undefined,
        note: () => undefined,
      },
    );
    client.endInput();
    const { code, why } = await client.done;
    this.#trials[at] = { ...step, until: Date.now(), code, why, ...said() };
  }
}

/** Lines of a worker, which count from 0. */
class Lines {
  count = 0;
  broken: string | null = null;
  #rest = '';

  take(bytes: Buffer): void {
    const lines = (this.#rest + bytes.toString('latin1')).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const isNext = line.startsWith(`${this.count} .`) && line.length === LINE_BYTES - 1;
      if (!isNext) this.broken ??= `${line.slice(0, 20)} (${line.length}) for ${this.count}`;
      this.count += 1;
    }
  }
}
