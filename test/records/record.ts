// Leaves the records of this release; see README.md.
//   node test/records/record.ts VERSION

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventKindsOf } from '../../src/kernel/api/event-kinds.ts';
import { decodeEntry } from '../../src/kernel/head/journal.ts';
import { openSqliteStore } from '../../src/kernel/store/sqlite/open.ts';
import { APIS } from '../support/wings.ts';
import { type JournalRecord, writeRecord } from './files.ts';
import { distinct, journalOf, kindsIn, type Line, type Run, runSeed } from './from-simulator.ts';
import { scriptedBatches, scriptedJournal, scriptedLines, scriptedRest } from './scripted.ts';

/** A second or two each; what none of them brings is for scripted.ts. */
const SEEDS = 40;
/** Longer conversations say little that shorter ones do not. */
const LINES_MAX = 20_000;

const [version] = process.argv.slice(2);
if (version === undefined || !/^\d+\.\d+\.\d+$/.test(version)) {
  console.error('usage: record.ts VERSION, such as 0.1.0');
  process.exit(2);
}
const folder = join(import.meta.dirname, version);
rmSync(folder, { recursive: true, force: true });

const runs: Run[] = [];
for (let seed = 1; seed <= SEEDS; seed += 1) runs.push(await runSeed(seed));

const scripted = scriptedJournal();
const missing = new Set(Object.keys(eventKindsOf(APIS)));
const batches = scriptedBatches();
const rest = scriptedRest();
for (const journal of [scripted, batches, rest]) forget(missing, kindsOf(journal));
writeRecord(folder, 'journal-scripted', scripted);
writeRecord(folder, 'journal-batches', batches);
writeRecord(folder, 'journal-rest', rest);
for (const run of fewestFor(runs, missing)) {
  writeRecord(folder, `journal-seed-${run.seed}`, journalOf(run, 0));
}
const [shortest] = runs.filter(({ snapshots }) => snapshots.size > 0).sort(byLength);
if (shortest === undefined) throw new Error('no run has left a snapshot');
const [last = 0] = [...shortest.snapshots.keys()].sort((a, b) => b - a);
writeRecord(folder, `journal-snapshot-${shortest.seed}`, journalOf(shortest, last));
writeRecord(folder, 'wire', conversation(runs));
writeRecord(folder, 'store', await storeOf(shortest));
if (missing.size > 0) console.error(`no record has ${[...missing].join(', ')}`);
process.exitCode = missing.size > 0 ? 1 : 0;

function kindsOf({ entries }: JournalRecord): string[] {
  const steps = entries.flatMap((bytes, at) => decodeEntry(at + 1, bytes));
  return steps.flatMap(({ events }) => events.map(({ kind }) => kind));
}

function forget(kinds: Set<string>, found: Iterable<string>): void {
  for (const kind of found) kinds.delete(kind);
}

function byLength(a: Run, b: Run): number {
  return a.commits.length - b.commits.length;
}

/** Few short runs that together have every kind of event; takes away what they have. */
function fewestFor(all: readonly Run[], kinds: Set<string>): Run[] {
  const chosen: Run[] = [];
  const left = all.map((run) => ({ run, has: new Set(run.commits.flatMap(kindsIn)) }));
  for (;;) {
    const gain = ({ has }: { has: Set<string> }) => [...kinds].filter((one) => has.has(one)).length;
    const [best] = left.sort((a, b) => gain(b) - gain(a) || byLength(a.run, b.run));
    if (best === undefined || gain(best) === 0) return chosen;
    chosen.push(best.run);
    forget(kinds, best.has);
  }
}

function conversation(all: readonly Run[]): Line[] {
  const sent = distinct(all.flatMap((run) => run.lines).slice(0, LINES_MAX));
  return [...sent, ...scriptedLines()];
}

/** The run once more, on SQLite: the file, and what it answers. */
async function storeOf({ commits }: Run) {
  const directory = mkdtempSync(join(tmpdir(), 'weft-record-'));
  try {
    const store = await openSqliteStore({ directory });
    await store.recover();
    for (const commit of commits) await store.append(commit);
    const jobs = await store.jobs({ limit: 1000 });
    const tasks = await store.tasks({ limit: 1000 });
    await store.close();
    const file = readFileSync(join(directory, 'weft.db'));
    return { file, jobs, tasks, entries: commits.map(({ bytes }) => bytes) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
