// One request of the wiki protocol, from its payload to the packet that answers it.

import type { Result } from '../../../kernel/base/result.ts';
import type { WikiCluster } from './cluster.ts';
import type { WikiProblem } from './codes.ts';
import { openWikiEnvelope, sealWikiReply } from './envelope.ts';
import { formatWikiPacket, readWikiText, WIKI_PACKET_BYTES_MAX } from './packet.ts';
import {
  formatWikiDone,
  formatWikiProblem,
  formatWikiRecord,
  formatWikiRecords,
  type WikiRecord,
} from './reply.ts';
import { parseWikiRequest, type WikiRequest, type WikiSelection } from './request.ts';

/** The name that replies are signed with. */
const USER = 'weft';
/** For what stands around the records of a reply. */
const ENVELOPE_BYTES = 256;

export interface WikiOptions {
  readonly cluster: WikiCluster;
  /** Null when nobody can sign. */
  readonly key: number | null;
  /** Whether requests without a signature are taken. */
  readonly unsigned: boolean;
  /** Ms since 1970. */
  readonly now: () => number;
}

export class WikiAnswers {
  readonly #options: WikiOptions;
  readonly #nodes = new WikiChanges();
  readonly #jobs = new WikiChanges();

  constructor(options: WikiOptions) {
    this.#options = options;
  }

  async answer(payload: Uint8Array): Promise<Uint8Array> {
    const text = readWikiText(payload);
    if (!text.ok) return this.refusal(text.error);
    const opened = openWikiEnvelope(text.value, { ...this.#options, nowS: this.#nowS });
    if (!opened.ok) return this.refusal(opened.error);
    const { data, user } = opened.value;
    const request = parseWikiRequest(data);
    if (!request.ok) return this.#reply(formatWikiProblem(request.error), user !== null);
    return this.#reply(await this.#done(request.value, user), user !== null);
  }

  /** Said before anybody is known. Never signed: a text with its checksum betrays the key. */
  refusal(problem: WikiProblem): Uint8Array {
    return this.#reply(formatWikiProblem(problem), false);
  }

  async #done(request: WikiRequest, user: string | null): Promise<string> {
    const { cluster } = this.#options;
    const bounds = { nowS: this.#nowS, bytesMax: WIKI_PACKET_BYTES_MAX - ENVELOPE_BYTES };
    if ('select' in request) {
      const isNodes = request.kind === 'get_nodes';
      const records = isNodes ? cluster.nodes() : cluster.jobs();
      const changes = isNodes ? this.#nodes : this.#jobs;
      return formatWikiRecords(changes.select(records, request.select, bounds));
    }
    return answerTextOf(await cluster.act(request, user));
  }

  #reply(data: string, isSigned: boolean): Uint8Array {
    const key = isSigned ? this.#options.key : null;
    return formatWikiPacket(sealWikiReply(data, { key, nowS: this.#nowS, user: USER }));
  }

  get #nowS(): number {
    return Math.floor(this.#options.now() / 1000);
  }
}

function answerTextOf(done: Result<string, WikiProblem>): string {
  return done.ok ? formatWikiDone(done.value) : formatWikiProblem(done.error);
}

// When each record was last seen to change: the protocol wants a time of every one, and asks for
// those changed since.

interface Seen {
  readonly text: string;
  readonly atS: number;
}

class WikiChanges {
  #seen = new Map<string, Seen>();

  /**
   * The records that are meant, as a reply has them, of at most so many bytes together. Ids that
   * nobody has are passed over.
   */
  select(
    records: Iterable<WikiRecord>,
    { sinceS, ids }: WikiSelection,
    { nowS, bytesMax }: { readonly nowS: number; readonly bytesMax: number },
  ): string[] {
    const wanted = ids === null ? null : new Set(ids);
    const seen = new Map<string, Seen>();
    const selected: string[] = [];
    let bytes = 0;
    for (const record of records) {
      const atS = this.#changedAt(record, nowS, seen);
      if (atS < sinceS || wanted?.has(record.id) === false) continue;
      const text = formatWikiRecord({ ...record, fields: [['UPDATETIME', atS], ...record.fields] });
      bytes += new TextEncoder().encode(text).length + 1;
      if (bytes > bytesMax) break;
      selected.push(text);
    }
    // What a full reply left out was not looked at and keeps its time.
    for (const [id, one] of this.#seen) if (bytes > bytesMax && !seen.has(id)) seen.set(id, one);
    this.#seen = seen;
    return selected;
  }

  #changedAt(record: WikiRecord, nowS: number, seen: Map<string, Seen>): number {
    const text = formatWikiRecord(record);
    const before = this.#seen.get(record.id);
    const one = before?.text === text ? before : { text, atS: nowS };
    seen.set(record.id, one);
    return one.atS;
  }
}
