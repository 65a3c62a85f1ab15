// A scheduler that talks to a resource manager as Maui does, with the habits of its client: it asks
// for everything each time, finds what it wants by plain searches for text, and trusts nothing
// else.

import { once } from 'node:events';
import { connect } from 'node:net';
import { wikiChecksum } from '../../src/wings/wiki/fabric/checksum.ts';

const HEADER_BYTES = 9;
const REPLY_BYTES_MAX = 32 * 65_536;
const STAMP_DIFFERENCE_MAX_S = 3600;

export class MauiError extends Error {
  readonly code: number;

  constructor(code: number, reply: string) {
    super(`the resource manager answers ${reply}`);
    this.code = code;
  }
}

export interface MauiRecord {
  readonly id: string;
  readonly state: string;
  /** Fields with a semicolon behind them, by their exact names. */
  readonly fields: ReadonlyMap<string, string>;
}

export interface MauiOptions {
  /** On the loopback, or the path of a unix socket. */
  readonly port: number | string;
  /** Null: it does not sign. */
  readonly key: number | null;
  /** Seconds that its clock is ahead. */
  readonly aheadS?: number;
}

export class MauiClient {
  readonly #options: MauiOptions;
  /** What it started, by id, when. */
  readonly started = new Map<string, number>();

  constructor(options: MauiOptions) {
    this.#options = options;
  }

  async nodes(): Promise<MauiRecord[]> {
    return recordsOf(await this.ask('CMD=GETNODES ARG=0:ALL'));
  }

  /** No jobs at all count as a query that failed: it knows nothing then. */
  async jobs(): Promise<MauiRecord[]> {
    return recordsOf(await this.ask('CMD=GETJOBS ARG=0:ALL'));
  }

  /** One turn: what fits is started in order, and what is over its time limit is cancelled. */
  async iterate(): Promise<string[]> {
    const nodes = await this.nodes();
    const jobs = await this.jobs();
    const room = new Map(nodes.filter(isOpen).map((node) => [node.id, roomOf(node)]));
    const did: string[] = [];
    for (const job of jobs) {
      if (job.state === 'Running' && isOver(job)) {
        await this.ask(`CMD=CANCELJOB ARG=${job.id} TYPE=WALLCLOCK`);
        did.push(`cancel ${job.id}`);
      }
      const tasks = job.state === 'Idle' ? place(job, room) : null;
      if (tasks === null) continue;
      // After a start that fails the resource manager is left alone until the next turn.
      await this.ask(`CMD=STARTJOB ARG=${job.id} TASKLIST=${tasks.join(':')}`);
      this.started.set(job.id, Date.now());
      did.push(`start ${job.id} on ${tasks.join(':')}`);
    }
    return did;
  }

  /** Rejects with the code of a refusal. */
  async ask(command: string): Promise<string> {
    const reply = this.#opened(await exchange(this.#options.port, this.#packet(command)));
    const at = reply.indexOf('SC=');
    if (at < 0) throw new Error(`no status in ${reply.slice(0, 200)}`);
    const code = Number.parseInt(reply.slice(at + 3), 10);
    if (code < 0) throw new MauiError(code, reply.slice(at));
    return reply;
  }

  #packet(command: string): Buffer {
    const { key, aheadS = 0 } = this.#options;
    const signed = `TS=${Math.floor(Date.now() / 1000) + aheadS} AUTH=maui DT=${command}`;
    const text = key === null ? command : `CK=${wikiChecksum(Buffer.from(signed), key)} ${signed}`;
    return Buffer.from(`${String(Buffer.byteLength(text)).padStart(8, '0')}\n${text}`);
  }

  #opened(reply: string): string {
    const { key } = this.#options;
    if (key === null) return reply;
    const signed = reply.slice(reply.indexOf('TS='));
    const want = `CK=${wikiChecksum(Buffer.from(signed), key)} `;
    if (!reply.startsWith(want)) throw new Error(`wrong checksum: ${reply.slice(0, 200)}`);
    const stamp = Number.parseInt(signed.slice(3), 10);
    if (Math.abs(stamp - Date.now() / 1000) > STAMP_DIFFERENCE_MAX_S) throw new Error('old reply');
    return reply;
  }
}

/** Sends the bytes and reads one reply, as a header says it. */
export async function exchange(
  at: number | string,
  bytes: Uint8Array,
  then: 'end' | 'wait' = 'wait',
): Promise<string> {
  const socket = typeof at === 'string' ? connect(at) : connect({ host: '127.0.0.1', port: at });
  await once(socket, 'connect');
  socket.write(bytes);
  if (then === 'end') socket.end();
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  const all = Buffer.concat(chunks);
  const size = Number(all.subarray(0, HEADER_BYTES - 1).toString());
  if (!(size > 0 && size <= REPLY_BYTES_MAX)) throw new Error(`a reply of ${size} bytes`);
  if (all.length < HEADER_BYTES + size) throw new Error('the reply is cut short');
  return all.subarray(HEADER_BYTES, HEADER_BYTES + size).toString();
}

function recordsOf(reply: string): MauiRecord[] {
  const at = reply.indexOf('ARG=');
  const count = Number.parseInt(reply.slice(at + 4), 10);
  if (!(count > 0)) throw new MauiError(-1, 'nothing at all');
  const texts = reply.slice(reply.indexOf('#', at) + 1).split(/(?<!\\)#/);
  if (texts.length !== count) throw new Error(`${count} records said, ${texts.length} there`);
  return texts.map(recordOf);
}

function recordOf(text: string): MauiRecord {
  const id = text.slice(0, text.indexOf(':'));
  const at = text.indexOf('STATE=');
  const end = text.indexOf(';', at);
  if (at < 0 || end < 0) throw new Error(`no state in ${text}`);
  const fields = new Map<string, string>();
  const parts = text.slice(id.length + 1).split(/(?<!\\);/);
  // What stands behind the last semicolon it does not see.
  for (const part of parts.slice(0, -1)) {
    const equals = part.indexOf('=');
    fields.set(part.slice(0, equals), part.slice(equals + 1));
  }
  return { id, state: text.slice(at + 'STATE='.length, end), fields };
}

interface Room {
  procs: number;
  readonly memory: number;
  readonly classes: string;
  readonly features: readonly string[];
}

function isOpen({ state }: MauiRecord): boolean {
  return state === 'Idle' || state === 'Running';
}

function roomOf({ fields }: MauiRecord): Room {
  return {
    procs: Number(fields.get('APROC') ?? 1),
    memory: Number(fields.get('AMEMORY') ?? 0),
    classes: fields.get('ACLASS') ?? '',
    features: (fields.get('FEATURE') ?? '').split(':'),
  };
}

/** A node for each of its tasks; null: it does not fit. */
function place({ fields }: MauiRecord, room: ReadonlyMap<string, Room>): string[] | null {
  const [tasks, perNode] = [Number(fields.get('TASKS')), Number(fields.get('TASKPERNODE') ?? 1)];
  const procs = Number(fields.get('DPROCS') ?? 1) * perNode;
  const memory = Number(fields.get('RMEM') ?? 0);
  const [, wanted = ''] = /^\[(.*):\d+\]$/.exec(fields.get('RCLASS') ?? '') ?? [];
  const features = (fields.get('RFEATURES') ?? '').split(':').filter((one) => one !== '');
  const chosen: string[] = [];
  for (const [id, one] of room) {
    if (chosen.length === tasks) break;
    const isOfClass = one.classes.includes(`[${wanted}:`);
    const hasAll = features.every((feature) => one.features.includes(feature));
    if (!isOfClass || !hasAll || one.procs < procs || one.memory < memory) continue;
    chosen.push(...Array.from({ length: perNode }, () => id));
  }
  if (chosen.length < tasks) return null;
  for (const id of new Set(chosen)) (room.get(id) as Room).procs -= procs;
  return chosen;
}

function isOver({ fields }: MauiRecord): boolean {
  const started = Number(fields.get('STARTTIME') ?? 0);
  return started > 0 && started + Number(fields.get('WCLIMIT')) < Date.now() / 1000;
}
