// What the bench asks the head for, as a client that does not give up: heads are killed meanwhile.

import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../src/kernel/api/api-error.ts';
import { type CallOptions, type Client, createClient } from '../../src/kernel/api/client.ts';
import type { HistoryJob, HistoryReply, HistoryTask } from '../../src/kernel/api/history.ts';
import type { RouteName } from '../../src/kernel/api/paths.ts';
import type { ReplyOf } from '../../src/kernel/api/routes.ts';
import type { NodeName } from '../../src/kernel/model/ids.ts';
import type { Accepted, SetAside, Work } from './evidence.ts';
import { type FileOfWork, fileOf } from './files.ts';
import { SLOT_MS, type WorkRequest } from './plan.ts';
import { SITE } from './site/evidence.ts';

const AGAIN_MS = 50;
const BEHIND_MS = 500;
const LEASE_MS = 4000;
const MEMORY_BYTES = 16 * 1_048_576;
/** In which a reservation is to find its time. */
const WITHIN_MS = 60_000;

export class Insistent {
  /** When the head did not have what had just been sent to it. */
  readonly lacked: number[] = [];
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
        if (!(error instanceof ApiError)) throw error;
        // A head that lacks records may be told to go on without them, in some seconds.
        const isBehind = error.code === 'head.behind';
        if (error.kind !== 'unavailable' && !isBehind) throw error;
        await sleep(isBehind ? BEHIND_MS : AGAIN_MS);
      }
    }
  }

  /** The job of this work, once for each time that it is sent. */
  async submit(work: Work, worker: Worker): Promise<Accepted> {
    const file = work.fileBytes === null ? null : fileOf(work.key, work.fileBytes);
    const send = async () => {
      const options = { body: submissionOf(work, worker, file), key: work.key };
      const { jobId } = await this.#withFile(file, () => this.ask('submitJob', options));
      return { jobId, at: Date.now() };
    };
    const answers = await Promise.all(work.twice ? [send(), send()] : [send()]);
    return {
      work,
      jobIds: answers.map(({ jobId }) => jobId),
      answeredAt: answers.map(({ at }) => at),
    };
  }

  /**
   * A head that was put back may have lost what was sent just before; its twin may send it, too.
   */
  async #withFile<T>(file: FileOfWork | null, ask: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        for (const { hash, bytes } of file?.contents ?? []) await this.#send(hash, bytes);
        return await ask();
      } catch (error) {
        if (file === null || !(error instanceof ApiError)) throw error;
        const isLacking = error.code === 'files.lacking';
        if (isLacking) this.lacked.push(Date.now());
        if (!isLacking && !error.code.startsWith('blob.')) throw error;
        await sleep(AGAIN_MS);
      }
    }
  }

  async #send(hash: string, bytes: Uint8Array): Promise<void> {
    const { lacking } = await this.ask('lackingBlobs', { body: { hashes: [hash] } });
    if (lacking.length === 0) return;
    const query = { offset: 0, size: bytes.length };
    const body = { length: bytes.length, open: () => Readable.from([bytes]) };
    await this.ask('sendBlob', { params: { hash }, query, bytes: body });
  }

  /** Null: the head has all of what the task left of its file; else what is wrong. */
  async keptOf(jobId: number, file: FileOfWork): Promise<string | null> {
    try {
      const params = { id: String(jobId), index: '0' };
      const { entries, missing } = await this.ask('getOutputs', { params });
      const copy = entries.find(({ path }) => path === 'copy');
      if (copy?.sha256 !== file.hash)
        return `no copy of it: ${JSON.stringify({ entries, missing })}`;
      const answer = await this.#client.stream('readBlob', { params: { hash: file.hash } });
      let length = 0;
      for await (const bytes of answer) length += (bytes as Uint8Array).length;
      return length === copy.size ? null : `${length} of ${copy.size} bytes`;
    } catch (error) {
      if (error instanceof ApiError) return `${error.code}: ${error.message}`;
      throw error;
    }
  }

  /** Null when its reservation is over already. */
  async submitMember(work: Work, worker: Worker): Promise<Accepted | null> {
    return unlessRefused(() => this.submit(work, worker));
  }

  /** Null when there is no room for it, or when it was made and a head died before its answer. */
  async reserve(name: string, wish: WorkRequest, { nodes }: Worker): Promise<SetAside | null> {
    const { whole, cpus: cpuCount } = wish;
    const share = { cpuCount, memoryBytes: 8 * MEMORY_BYTES, gpuCount: 0, counted: {} };
    const body = {
      name,
      durationMs: SLOT_MS,
      nodeCount: wish.hostCount,
      nodeNames: [...nodes],
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

  async node(name: string) {
    const { nodes } = await this.ask('listNodes');
    return nodes.find((node) => node.name === name);
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
  /** A variable of each job that nobody else is to read. */
  readonly secret: string;
  /** Those that are of no site. */
  readonly nodes: readonly NodeName[];
  /** Starts it on a node of the site; in the folder that those share. */
  readonly atSite: string;
}

const COPY_FILE = 'cp file copy && exec "$@"';

function submissionOf(work: Work, worker: Worker, file: FileOfWork | null) {
  const { beats, exitCode, stubborn, onLoss, arraySize, reservation } = work;
  const args = [worker.receipts, String(beats), String(exitCode), stubborn ? '1' : '0', work.key];
  const own = [worker.path, ...args];
  const argv = work.at === null ? own : [worker.atSite, ...own];
  const path = dirname(work.at === null ? worker.path : worker.atSite);
  const shared = { kind: 'shared' as const, path };
  return {
    name: work.key,
    program: {
      kind: 'argv' as const,
      argv: file === null ? argv : ['/bin/sh', '-c', COPY_FILE, 'sh', ...argv],
    },
    environment: { PASSWORD: worker.secret, PATH: '/usr/bin:/bin' },
    directory: file === null ? shared : { kind: 'private' as const },
    ...(file === null ? {} : { staging: { inputs: file.list, outputs: ['copy'] } }),
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
    // What brings a file could run anywhere.
    ...(work.at === null && file !== null ? { nodeNames: [...worker.nodes] } : {}),
    ...(work.at === SITE ? { labels: [`site=${SITE}`] } : {}),
    ...(work.at === null || work.at === SITE ? {} : { nodeNames: [work.at as NodeName] }),
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
  { cpus }: WorkRequest,
): SetAside | null {
  const slot = slots[0];
  if (slot === undefined) return null;
  const made = { name, madeAt: Date.now(), hosts: slot.nodes, cpus };
  return { ...made, from: slot.from, until: slot.until };
}

interface Slot {
  readonly from: number;
  readonly until: number;
  readonly nodes: readonly string[];
}
