// What stands between a cluster and this release: which parts run which one, whether this one reads
// the head's records, and what has to be stopped.

import { plural } from '../../../../kernel/base/plural.ts';
import type { JournalReading, StoreReading } from '../../../../kernel/model/store-reading.ts';

/** Names in a line. */
const NAMES_MAX = 8;

export interface NodeRelease {
  readonly name: string;
  /** Null: it has never connected. */
  readonly version: string | null;
  readonly tasks: number;
}

export interface Parts {
  /** This release. */
  readonly own: string;
  /** Null: it does not answer. */
  readonly head: { readonly version: string; readonly nodes: readonly NodeRelease[] } | null;
  /** Where the head's store is, and what a look at it has found; null: this is only a node. */
  readonly store: { readonly folder: string; readonly reading: StoreReading } | null;
  /** What a look at those of this machine's agents has found. */
  readonly journals: readonly JournalReading[];
}

interface Finding {
  readonly state: 'ok' | 'note' | 'bad';
  readonly text: string;
  readonly remedy?: string;
}

type Named = Finding & { readonly name: string };

export function upgradeFindings({ own, head, store, journals }: Parts): Named[] {
  return [
    { name: 'release', state: 'ok', text: `this program is Weft ${own}` },
    headFinding(own, head?.version ?? null),
    ...nodeFindings(own, head?.nodes ?? []),
    ...(store === null ? [] : [recordsFinding(store)]),
    ...journalFindings(journals),
    stopFinding(head),
  ];
}

function headFinding(own: string, version: string | null): Named {
  const name = 'head';
  if (version === null) {
    const remedy =
      'A head that is stopped is well. Else type this on the machine of the head, as its user or as root.';
    return { name, state: 'note', text: 'does not answer', remedy };
  }
  if (lineOf(version) > lineOf(own)) {
    const text = `runs ${version}, which is newer than ${own}`;
    const remedy = `Take ${version} or newer. An older release does not read what a newer one wrote; the way back is a backup of then.`;
    return { name, state: 'bad', text, remedy };
  }
  return { name, state: 'ok', text: `runs ${version}` };
}

function nodeFindings(own: string, nodes: readonly NodeRelease[]): Named[] {
  const byVersion = new Map<string, string[]>();
  for (const { name, version } of nodes) {
    if (version === null) continue;
    byVersion.set(version, [...(byVersion.get(version) ?? []), name]);
  }
  return [...byVersion]
    .sort(([one], [other]) => lineOf(one) - lineOf(other))
    .map(([version, names]) => ({ name: 'nodes', ...nodeFinding(own, version, names) }));
}

/** A head serves agents of the release before. */
function nodeFinding(own: string, version: string, names: readonly string[]): Finding {
  const some = names.slice(0, NAMES_MAX).join(', ');
  const more = names.length > NAMES_MAX ? `, … (${names.length})` : '';
  const text = `${version} on ${some}${more}`;
  const behind = lineOf(own) - lineOf(version);
  if (behind < 0) {
    const remedy = `Bring the head to ${version} first, or these back.`;
    return { state: 'bad', text: `${text}, newer than ${own}`, remedy };
  }
  if (behind > 1) {
    const remedy = `Bring these to the release between first: a head of ${own} serves agents of the one before.`;
    return { state: 'bad', text: `${text}, older than the release before ${own}`, remedy };
  }
  return { state: 'ok', text };
}

function recordsFinding({ folder, reading }: NonNullable<Parts['store']>): Named {
  const name = 'records';
  if ('problem' in reading) {
    const remedy = 'Nothing was changed.';
    return { name, state: 'bad', text: `${folder}: ${reading.problem}`, remedy };
  }
  const { records, lastJobId, layout, ownLayout } = reading;
  const read = `all ${plural(records, 'record')} up to job ${lastJobId} are read by this release`;
  if (layout === ownLayout) return { name, state: 'ok', text: read };
  const text = `${read}; its tables (layout ${layout}) become layout ${ownLayout} with its first start`;
  const remedy = 'Make a backup before: weft backup. The way back is that.';
  return { name, state: 'note', text, remedy };
}

/** What an agent of this release takes over of the one that runs: its tasks are known by that. */
function journalFindings(journals: readonly JournalReading[]): Named[] {
  const name = 'journals';
  const bad = journals.flatMap((one): Named[] => {
    if (!('problem' in one)) return [];
    const remedy = 'Let its tasks end before this release starts there: weft node drain.';
    return [{ name, state: 'bad', text: `node ${one.node}: ${one.problem}`, remedy }];
  });
  const read = journals.flatMap((one) => ('starts' in one ? one : []));
  if (read.length === 0) return bad;
  const starts = read.reduce((sum, one) => sum + one.starts, 0);
  const text = `all ${plural(starts, 'start')} of tasks of ${plural(read.length, 'agent')} here can be read by this release`;
  return [{ name, state: 'ok', text }, ...bad];
}

function stopFinding(head: Parts['head']): Named {
  const name = 'to stop';
  if (head === null) return { name, state: 'ok', text: 'nothing: no head runs here' };
  const tasks = head.nodes.reduce((sum, node) => sum + node.tasks, 0);
  const text = `the head, then each agent, for a moment; ${plural(tasks, 'task')} that ${tasks === 1 ? 'runs goes' : 'run go'} on`;
  return { name, state: 'ok', text };
}

/** 0.2.7 and 0.2.0 are of one line; each minor release begins the next. */
function lineOf(version: string): number {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10) || 0);
  return major * 1000 + minor;
}
