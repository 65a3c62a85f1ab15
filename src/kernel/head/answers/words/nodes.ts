// What is said of the nodes that keep a task waiting: those of which the same is said stand
// together.

import { plural } from '../../../base/plural.ts';
import { formatSize } from '../../../base/size.ts';
import { FEATURE_WORDS } from '../../../model/node-features.ts';
import { pauseWords } from '../../../model/pause.ts';
import type { Absence, FreeAmount, NodeReasons, NodeSituation } from '../../../model/reason.ts';
import { spanWords } from './instants.ts';

/** What is said of one node and of several. */
interface Said {
  readonly one: string;
  readonly many: string;
  /** Cpus of a full node; added up over the nodes. */
  readonly cpus?: { readonly used: number; readonly total: number };
}

interface Group {
  readonly names: readonly string[];
  readonly said: Said;
}

/** More nodes than this are counted, not named. */
const NAMES_MAX = 3;
/** Further situations are only counted. */
const GROUPS_MAX = 4;

/** Gpus of one node that are named with what keeps them, or who has them. */
const ASIDES_MAX = 2;

/** Nodes by what is said of them, in the order in which it is first said. */
function grouped(nodes: NodeReasons['nodes']): Group[] {
  const groups = new Map<string, { names: string[]; said: Said }>();
  for (const { name, situation } of nodes) {
    const said = say(situation);
    const group = groups.get(said.many);
    if (group === undefined) groups.set(said.many, { names: [name], said });
    else {
      group.names.push(name);
      group.said = sum(group.said, said);
    }
  }
  return [...groups.values()];
}

function sum(a: Said, b: Said): Said {
  if (a.cpus === undefined || b.cpus === undefined) return a;
  const used = a.cpus.used + b.cpus.used;
  return { ...a, cpus: { used, total: a.cpus.total + b.cpus.total } };
}

/** `all 4 nodes are full: 8 of 8 cpus in use`; `n1 is full (2 of 2 cpus in use), n2 has …`. */
export function sayNodes({ count, nodes }: NodeReasons): string {
  const groups = grouped(nodes);
  const [only] = groups;
  if (only !== undefined && groups.length === 1 && only.names.length === count) {
    const { cpus } = only.said;
    const inUse = cpus === undefined ? '' : `: ${cpusInUse(cpus)}`;
    return `${subjectOfAll(only.names)} ${verbOf(only)}${inUse}`;
  }
  const shown = groups.slice(0, GROUPS_MAX).map((group) => {
    const { cpus } = group.said;
    const inUse = cpus === undefined ? '' : ` (${cpusInUse(cpus)})`;
    return `${subjectOf(group.names)} ${verbOf(group)}${inUse}`;
  });
  const left = groups.slice(GROUPS_MAX).flatMap(({ names }) => names);
  if (left.length > 0) shown.push(`… (${plural(left.length, 'node')} more)`);
  return shown.join(', ');
}

function verbOf({ names, said }: Group): string {
  return names.length === 1 ? said.one : said.many;
}

function cpusInUse({ used, total }: { used: number; total: number }): string {
  return `${used} of ${total} cpus in use`;
}

function subjectOfAll(names: readonly string[]): string {
  return names.length <= 2 ? subjectOf(names) : `all ${names.length} nodes`;
}

function subjectOf(names: readonly string[]): string {
  if (names.length > NAMES_MAX) return `${names.length} nodes`;
  const last = names.at(-1) ?? '';
  return names.length === 1 ? last : `${names.slice(0, -1).join(', ')} and ${last}`;
}

function say(situation: NodeSituation): Said {
  switch (situation.kind) {
    case 'absent':
      return are(sayAbsent(situation));
    case 'outdated': {
      const what = situation.features.map((feature) => FEATURE_WORDS[feature]).join(' and ');
      const words = `an agent too old for ${what}`;
      return { one: `runs ${words}`, many: `run ${words}` };
    }
    case 'busy':
      return { one: 'runs other tasks', many: 'run other tasks' };
    case 'full': {
      const { cpusUsed: used, cpusTotal: total } = situation;
      return { ...are('full'), cpus: { used, total } };
    }
    case 'free': {
      const words = situation.amounts.map(amountWords).join(' and ');
      return have(
        `${situation.enough ? '' : 'only '}${words} free${asideWords(situation.amounts)}`,
      );
    }
    case 'reservation_used':
      return have('too little of the reservation free');
    default: {
      const { purpose, name, startsInMs, endsInMs } = situation;
      if (purpose === 'node_end') return have(`only ${spanWords(startsInMs ?? 0)} left`);
      const title = `${purpose} ${name}`;
      if (startsInMs !== null) return have(`${title} in ${spanWords(startsInMs)}`);
      return are(`in ${title} for ${spanWords(endsInMs)} more`);
    }
  }
}

function are(words: string): Said {
  return { one: `is ${words}`, many: `are ${words}` };
}

function have(words: string): Said {
  return { one: `has ${words}`, many: `have ${words}` };
}

function sayAbsent(absence: Absence): string {
  switch (absence.why) {
    case 'drained':
      return `drained (${absence.reason})`;
    case 'away':
      return absence.isUnreachable ? 'unreachable' : 'not connected';
    case 'faulty':
      return `out of use (${absence.fault})`;
    case 'external':
      return `run by the external scheduler of partition ${absence.partition}`;
    case 'unlooked':
      return unlookedWords(absence.site);
    default:
      return pauseWords(absence.pause);
  }
}

/** `waiting for a whole look at site hpc, which says what runs there`. */
export function unlookedWords(site: string): string {
  return `waiting for a whole look at site ${site}, which says what runs there`;
}

/** The first few, so that a node of many cards says no more than a person reads. */
function asideWords(amounts: readonly FreeAmount[]): string {
  const aside = amounts.flatMap((amount) => amount.aside ?? []);
  if (aside.length === 0) return '';
  const left = aside.length - ASIDES_MAX;
  const more = left > 0 ? `; and ${left} more` : '';
  return ` (${aside.slice(0, ASIDES_MAX).join('; ')}${more})`;
}

function amountWords({ of, free }: FreeAmount): string {
  if (of === 'memory') return `${formatSize(Math.max(0, free))} memory`;
  if (typeof of === 'string') return plural(free, of);
  return `${free} ${'gpus' in of ? of.gpus : of.counted}`;
}
