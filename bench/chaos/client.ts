// What the bench asks the head for, as a client that does not give up: heads are killed meanwhile.

import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../src/api/api-error.ts';
import { type CallOptions, type Client, createClient } from '../../src/api/client.ts';
import type { HistoryJob, HistoryReply, HistoryTask } from '../../src/api/history.ts';
import type { RouteName } from '../../src/api/paths.ts';
import type { ReplyOf } from '../../src/api/routes.ts';
import type { SetAside, Work } from './evidence.ts';
import { SLOT_MS, type Wish } from './plan.ts';

const AGAIN_MS = 50;
const LEASE_MS = 4000;
const MEMORY_BYTES = 16 * 1_048_576;
/** In which a reservation is to find its time. */
const WITHIN_MS = 60_000;

export class Insistent {
  readonly #client: Client;

  constructor(socketPath: string) {
    this.#client = createClient({ address: { socketPath } });
  }

  /** Asks again until there is an answer; a refusal is one. */
  async ask<N extends RouteName>(route: N, options?: CallOptions<N>): Promise<ReplyOf<N>> {
    for (;;) {
      try {
        return await this.#client.call(route, options);
      } catch (error) {
        if (!(error instanceof ApiError) || error.kind !== 'unavailable') throw error;
        await sleep(AGAIN_MS);
      }
    }
  }

  /** Its job, once for each time that it is sent. */
  async submit(work: Work, worker: Worker): Promise<number[]> {
    const send = async () => {
      const options = { body: submissionOf(work, worker), key: work.key };
      return (await this.ask('submitJob', options)).jobId;
    };
    return Promise.all(work.twice ? [send(), send()] : [send()]);
  }

  /** Null when its reservation is over already. */
  async submitMember(work: Work, worker: Worker): Promise<number[] | null> {
    return unlessRefused(() => this.submit(work, worker));
  }

  /** Null when there is no room for it, or when it was made and a head died before its answer. */
  async reserve(name: string, wish: Wish): Promise<SetAside | null> {
    const { whole, cpus: cpuCount } = wish;
    const share = { cpuCount, memoryBytes: 8 * MEMORY_BYTES, gpuCount: 0, counted: {} };
    const body = {
      ...{ name, durationMs: SLOT_MS, nodeCount: wish.hostCount },
      share: whole ? ('whole' as const) : share,
      within: { until: Date.now() + WITHIN_MS },
    };
    const made = await unlessRefused(() => this.ask('createReservation', { body }));
    return made === null ? null : setAsideOf(made, wish);
  }

  /** Everything, page by page. */
  async history(): Promise<{ jobs: HistoryJob[]; tasks: HistoryTask[] }> {
    const jobs: HistoryJob[] = [];
    const tasks: HistoryTask[] = [];
    let before: number | undefined;
    for (;;) {
      const page: HistoryReply = await this.ask('history', {
        query: { tasks: true, limit: 500, before },
      });
      if (page.nextTask != null) throw new Error('more than 10,000 tasks on a page of 500 jobs');
      jobs.push(...page.jobs);
      tasks.push(...page.tasks);
      if (page.next === null) return { jobs, tasks };
      before = page.next;
    }
  }

  async nodesUp(names: readonly string[]): Promise<boolean> {
    const { nodes } = await this.ask('listNodes');
    return names.every((name) => nodes.some((node) => node.name === name && node.state === 'up'));
  }

  /** Server-sent events after a record; throws when that is too long ago. */
  stream(after: number, signal: AbortSignal) {
    return this.#client.stream('events', { query: { after }, signal });
  }

  close(): void {
    this.#client.close();
  }
}

export interface Worker {
  readonly path: string;
  readonly receipts: string;
}

function submissionOf(work: Work, worker: Worker) {
  const { beats, exitCode, stubborn, onLoss, arraySize, reservation } = work;
  const args = [worker.receipts, String(beats), String(exitCode), stubborn ? '1' : '0'];
  return {
    name: work.key,
    program: { kind: 'argv' as const, argv: [worker.path, ...args] },
    environment: {},
    directory: { kind: 'shared' as const, path: '/' },
    partition: work.partition,
    nodeCount: work.nodeCount,
    processesPerNode: work.processesPerNode,
    cpuCount: work.cpuCount,
    memoryBytes: MEMORY_BYTES,
    walltimeMs: work.limitMs,
    requeue: work.requeue,
    retriesMax: work.retriesMax,
    onNodeLoss: onLoss === 'lease' ? { kind: onLoss, leaseMs: LEASE_MS } : { kind: onLoss },
    ...(arraySize === null ? {} : { array: { indices: `0-${arraySize - 1}` } }),
    ...(reservation === null ? {} : { reservation }),
  };
}

async function unlessRefused<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ApiError && error.code.startsWith('reservation.')) return null;
    throw error;
  }
}

function setAsideOf(
  { name, slots }: { readonly name: string; readonly slots: readonly Slot[] },
  { cpus }: Wish,
): SetAside | null {
  const slot = slots[0];
  if (slot === undefined) return null;
  return { name, hosts: slot.nodes, cpus, from: slot.from, until: slot.until };
}

interface Slot {
  readonly from: number;
  readonly until: number;
  readonly nodes: readonly string[];
}
