// Which output a node may send: that of its own part of epochs which run or ran there. Anything
// else could spoil what another node has written.

import type { NodeName } from '../model/ids.ts';
import { formatEpochId, formatTaskId, parseTaskId } from '../model/ids.ts';
import type { Report } from '../model/orders.ts';
import type { Log } from '../ports/log.ts';
import type { AgentToHead, LogName } from '../wire/messages.ts';
import type { Engine } from './engine.ts';
import type { Kept, LogSink } from './log-sink.ts';

type Piece = Extract<AgentToHead, { kind: 'log' }>;
type TaskEnded = Extract<Report, { kind: 'task_ended' }>;

const STREAMS = ['stdout', 'stderr'] as const;
const NOTHING = { offset: 0, bytes: new Uint8Array(), end: true, dropped: 0 } as const;

/** Epochs whose nodes are remembered, newest last; for older ones the store is asked. */
const PLACED_MAX = 100_000;
/** Bytes of one node that wait to be written: some hundred files with a full window each. */
const WAITING_BYTES_MAX = 256 * 1_048_576;
/** Bytes of all nodes together. What comes beyond is not kept: agents soon send it again. */
const ALL_WAITING_BYTES_MAX = 2 * WAITING_BYTES_MAX;
/** What a waiting piece costs besides its bytes, roughly and rather too much. */
const PIECE_BYTES = 4096;

/** What waits of one node; `judging` is the end of the line of pieces that need the store. */
interface NodeBacklog {
  bytes: number;
  unjudged: number;
  judging: Promise<unknown>;
}

export class OutputGate {
  readonly #engine: Engine;
  readonly #logs: LogSink;
  readonly #log: Log;
  readonly #waiting = new Map<NodeName, NodeBacklog>();
  #allBytes = 0;
  /** The nodes of an epoch in rank order, by its id; only what is durable. */
  readonly #placed = new Map<string, readonly NodeName[]>();

  constructor(engine: Engine, { logs, log }: { readonly logs: LogSink; readonly log: Log }) {
    this.#engine = engine;
    this.#logs = logs;
    this.#log = log;
    engine.onCommitted(({ events }) => {
      for (const event of events) {
        if (event.kind !== 'task_allocated') continue;
        const { place, epoch, shares } = event;
        const epochId = formatEpochId(formatTaskId(place.jobId, place.index), epoch);
        this.#remember(
          epochId,
          shares.map(({ node }) => node),
        );
      }
    });
  }

  /**
   * Resolves with what to acknowledge; rejects when the piece could not be kept. Null: too
   * much of this node waits already, and nothing was taken.
   */
  take(node: NodeName, piece: Piece): Promise<Kept> | null {
    const bytes = piece.bytes.length + PIECE_BYTES;
    const waiting = this.#waitingOf(node);
    if (waiting.bytes + bytes > WAITING_BYTES_MAX) return null;
    if (this.#allBytes + bytes > ALL_WAITING_BYTES_MAX) {
      if (waiting.bytes === 0) this.#waiting.delete(node);
      return Promise.reject(new Error('too much output already waits to be written'));
    }
    waiting.bytes += bytes;
    this.#allBytes += bytes;
    return this.#admit(node, piece, waiting).finally(() => {
      waiting.bytes -= bytes;
      this.#allBytes -= bytes;
      if (waiting.bytes === 0) this.#waiting.delete(node);
    });
  }

  /** The output of a task that has written none is complete with its end. */
  endSilently(node: NodeName, { epochId, processes, silentNodeRank: nodeRank }: TaskEnded): void {
    if (nodeRank === undefined) return;
    for (const { rank } of processes) {
      const process = { epochId, nodeRank, rank };
      if (this.#endsAtOnce(node, process)) continue;
      for (const stream of STREAMS) {
        const name = { ...process, stream };
        // Not waited for: without this word readers wait a little for more, that is all.
        this.take(node, { kind: 'log', name, ...NOTHING })?.catch((error: unknown) =>
          this.#log.warn(
            { node, epoch: epochId, error: String(error) },
            'the end of an output could not be recorded',
          ),
        );
      }
    }
  }

  /** Nothing of that node's waits to be judged, and there is nothing to write. */
  #endsAtOnce(node: NodeName, process: Omit<LogName, 'stream'>): boolean {
    if ((this.#waiting.get(node)?.unjudged ?? 0) > 0 || !this.#isKnown(node, process)) return false;
    return this.#logs.endSilently?.(process) ?? false;
  }

  #admit(node: NodeName, piece: Piece, waiting: NodeBacklog): Promise<Kept> {
    // Behind one that is still being judged all others wait too: pieces stay in order.
    if (waiting.unjudged === 0 && this.#isKnown(node, piece.name)) return this.#keep(piece);
    waiting.unjudged += 1;
    const judged = waiting.judging.then(async () => {
      const known = await this.#isRecorded(node, piece).finally(() => {
        waiting.unjudged -= 1;
      });
      return known ? this.#keep(piece) : this.#letGo(node, piece);
    });
    waiting.judging = judged.catch(() => undefined); // The asker is told; the next one goes on.
    return judged;
  }

  #keep({ kind: _, name, ...piece }: Piece): Promise<Kept> {
    return this.#logs.append(name, piece);
  }

  /** Acknowledged all the same: the agent would send it for ever. */
  #letGo(node: NodeName, { name, offset, bytes, end }: Piece): Kept {
    this.#log.warn(
      { node, epoch: name.epochId },
      'a node sent output of a task that never ran on it; it is dropped',
    );
    return { offset: offset + bytes.length, end };
  }

  /** This part runs there now, as far as its other parts too, or was started not long ago. */
  #isKnown(node: NodeName, { epochId, nodeRank }: Pick<LogName, 'epochId' | 'nodeRank'>): boolean {
    const nodes = this.#placed.get(epochId);
    if (nodes !== undefined) return nodes[nodeRank] === node;
    const place = readEpoch(epochId);
    if (place === null) return false;
    const task = this.#engine.state.jobs.get(place.jobId)?.active.get(place.index ?? 0);
    return task?.epoch === place.epoch && task.parts.get(node)?.nodeRank === nodeRank;
  }

  /** After a restart, or between the end of an epoch and its record, only the store knows. */
  async #isRecorded(node: NodeName, piece: Piece): Promise<boolean> {
    await this.#engine.settled();
    // What it knows may be about to change back: the agent sends the piece again.
    if (this.#engine.failure !== null) throw new Error(this.#engine.failure);
    if (this.#isKnown(node, piece.name)) return true;
    const { epochId, nodeRank } = piece.name;
    const place = readEpoch(epochId);
    if (place === null) return false;
    const { jobId, epoch } = place;
    const taskIndex = place.index ?? -1;
    const [row] = await this.#engine.store.tasks({
      jobIds: [jobId],
      taskIndex,
      afterTask: { jobId, taskIndex, epoch: epoch - 1 },
      limit: 1,
    });
    if (row?.epoch !== epoch) return false;
    // The history lists them in rank order.
    const nodes = row.nodes.split(',') as NodeName[];
    this.#remember(epochId, nodes);
    return nodes[nodeRank] === node;
  }

  #remember(epochId: string, nodes: readonly NodeName[]): void {
    this.#placed.set(epochId, nodes);
    if (this.#placed.size <= PLACED_MAX) return;
    for (const oldest of this.#placed.keys()) {
      this.#placed.delete(oldest);
      return;
    }
  }

  #waitingOf(node: NodeName): NodeBacklog {
    const known = this.#waiting.get(node);
    if (known !== undefined) return known;
    const made = { bytes: 0, unjudged: 0, judging: Promise.resolve() };
    this.#waiting.set(node, made);
    return made;
  }
}

/** `42[7]#2` taken apart; null when it is no epoch's id. */
function readEpoch(epochId: string) {
  const [, task = '', epoch = ''] = /^([^#]+)#(\d{1,9})$/.exec(epochId) ?? [];
  const place = parseTaskId(task);
  return place.ok ? { ...place.value, epoch: Number(epoch) } : null;
}
