// Journals and messages as the real shells write them, taken from runs of the simulator.

import { HEAD_MACHINE } from '../../sim/head-machine.ts';
import { SessionEnd } from '../../sim/net.ts';
import { SimStore } from '../../sim/store.ts';
import { World } from '../../sim/world.ts';
import { exportState } from '../../src/kernel/machine/snapshot.ts';
import { decodeEntry, rebuild } from '../../src/kernel/head/journal.ts';
import type { Commit } from '../../src/kernel/ports/store.ts';
import { decodeAgentMessage, decodeHeadMessage } from '../../src/kernel/wire/codec.ts';
import { OrderReader } from '../../src/kernel/wire/orders.ts';
import { type JournalRecord, recoveredFrom, throughJson } from './files.ts';

/** All that one run's head wrote, and all that was sent. */
export interface Run {
  readonly seed: number;
  readonly commits: readonly Commit[];
  readonly snapshots: ReadonlyMap<number, Uint8Array>;
  readonly lines: readonly Line[];
}

export interface Line {
  /** `>`: an agent's, `<`: the head's. */
  readonly way: '>' | '<';
  /** Orders may refer to earlier ones of the same session. */
  readonly session: number;
  readonly bytes: Uint8Array;
  readonly meant: unknown;
}

export async function runSeed(seed: number): Promise<Run> {
  const commits = new Map<number, Commit>();
  const snapshots = new Map<number, Uint8Array>();
  const { append, saveSnapshot } = SimStore.prototype;
  SimStore.prototype.append = function (commit) {
    commits.set(commit.seq, commit);
    return append.call(this, commit);
  };
  SimStore.prototype.saveSnapshot = function (seq, bytes) {
    snapshots.set(seq, bytes);
    return saveSnapshot.call(this, seq, bytes);
  };
  const heard = listen(seed);
  try {
    await new World({ seed }).run();
  } finally {
    Object.assign(SimStore.prototype, { append, saveSnapshot });
    heard.stop();
  }
  const inOrder = [...commits.values()].sort((a, b) => a.seq - b.seq);
  return { seed, commits: inOrder, snapshots, lines: heard.lines };
}

const BRACE = '{'.charCodeAt(0);

function listen(seed: number): { readonly lines: Line[]; stop(): void } {
  const lines: Line[] = [];
  const { send } = SessionEnd.prototype;
  const sessions = new Map<SessionEnd, { number: number; kept: OrderReader }>();
  SessionEnd.prototype.send = function (bytes) {
    // What simulated nodes ask of files is words of the simulator's own.
    if (bytes[0] === BRACE) return send.call(this, bytes);
    // The name of its peer is known to the head's end only.
    const way = this.peer === '' ? '>' : '<';
    const known = sessions.get(this) ?? { number: seed * 1000 + sessions.size, kept: new OrderReader() };
    sessions.set(this, known);
    const { number: session, kept } = known;
    const read = way === '>' ? decodeAgentMessage(bytes) : decodeHeadMessage(bytes, kept);
    if (!read.ok) throw new Error(read.error);
    lines.push({ way, session, bytes: bytes.slice(), meant: read.value });
    send.call(this, bytes);
  };
  return {
    lines,
    stop: () => {
      SessionEnd.prototype.send = send;
    },
  };
}

export function kindsIn(commit: Commit): string[] {
  const steps = decodeEntry(commit.seq, commit.bytes);
  return steps.flatMap(({ events }) => events.map(({ kind }) => kind));
}

/** The journal from its beginning, or from the snapshot of this number, up to the last entry. */
export function journalOf({ commits, snapshots }: Run, snapshotSeq: number): JournalRecord {
  const entries = commits.filter(({ seq }) => seq > snapshotSeq).map(({ bytes }) => bytes);
  const record = { snapshotSeq, snapshot: snapshots.get(snapshotSeq) ?? null, entries };
  const { state, seq } = rebuild(HEAD_MACHINE, recoveredFrom({ ...record, seq: 0, state: null }));
  return { ...record, seq, state: throughJson(exportState(state)) };
}

/**
 * One session up to orders that refer to earlier ones, and the first line of each other content.
 */
export function distinct(lines: readonly Line[]): Line[] {
  const referring = lines.find((line) => !isWhole(line));
  const before = lines.slice(0, referring === undefined ? 0 : lines.indexOf(referring) + 1);
  const whole = before.filter(({ session }) => session === referring?.session);
  const seen = new Set<string>();
  const others = lines.filter((line) => {
    const content = contentOf(line.way, line.meant);
    if (seen.has(content) || !isWhole(line)) return false;
    seen.add(content);
    return true;
  });
  return [...others, ...whole];
}

/** Refers to no earlier line. */
function isWhole({ way, bytes }: Line): boolean {
  return way === '>' || decodeHeadMessage(bytes).ok;
}

const NAMED = ['kind', 'cause', 'code', 'end', 'stream', 'why'];

/** Names of all fields, and the values of those that say which of several things is meant. */
function contentOf(way: string, meant: unknown): string {
  const words = JSON.stringify(meant, (name, one: unknown) => {
    if (name === 'environment' || name === 'load' || name === 'details') return {};
    if (Array.isArray(one)) return one.slice(0, 4);
    if (typeof one === 'object' || NAMED.includes(name)) return one;
    return '';
  });
  return `${way} ${words}`;
}
