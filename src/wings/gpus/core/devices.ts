// What an operator's program says of further devices: gpus that no tool here knows, and whatever
// else a node has to give, counted by kind.

import type { SeenCard } from '../model/answer.ts';
import { numberOf, plainBusId } from './cells.ts';
import { type Json, parseAfterWarnings, rowsOf, textOf } from './others/json.ts';
import { typeNameOf } from './type-name.ts';

/** Maker of the cards that come of it. */
export const DEVICES = 'devices';

export interface ReadDevices {
  readonly cards: readonly SeenCard[];
  /** How many there are of each kind that is no gpu, but those with a problem. */
  readonly counted: Readonly<Record<string, number>>;
  /** What is wrong with single ones; null: nothing. */
  readonly remark: string | null;
}

/** What the program is to print, for whoever reads what it says instead. */
export const EXPECTED = 'a JSON list as [{"kind": "fpga", "id": "slot-3"}]';

const ROWS_MAX = 1024;
const FILES_MAX = 16;
const KIND = /^[a-z][\w.-]{0,63}$/i;
const GPU = 'gpu';

/** What a node has anyway. */
const OWN_KINDS: ReadonlySet<string> = new Set(['cpu', 'cpus', 'memory', 'gpus', 'node', 'nodes']);

function notCounted(kind: string): string | null {
  return OWN_KINDS.has(kind.toLowerCase()) ? `${kind} is no kind of devices` : null;
}

/** Absolute paths. */
function filesOf(value: Json | undefined): string[] {
  if (!Array.isArray(value)) return [];
  const paths = value.filter((one) => typeof one === 'string' && one.startsWith('/'));
  return paths.slice(0, FILES_MAX) as string[];
}

/** Returns null when it is no such list. */
export function readDevices(text: string): ReadDevices | null {
  const all = parseAfterWarnings(text);
  if (!Array.isArray(all)) return null;
  const cards: SeenCard[] = [];
  const counted: Record<string, number> = {};
  const remarks: string[] = [];
  const known = new Set<string>();
  rowsOf(all, '').forEach((row, at) => {
    const [kind, id] = [textOf(row['kind']), textOf(row['id'])];
    if (kind === null || !KIND.test(kind) || id === null || at >= ROWS_MAX) {
      remarks.push(`entry ${at + 1} is left out: it needs a kind, of one word, and an id`);
      return;
    }
    const why = known.has(`${kind} ${id}`) ? `${kind} ${id} stands there twice` : notCounted(kind);
    known.add(`${kind} ${id}`);
    if (why !== null) {
      remarks.push(`entry ${at + 1} is left out: ${why}`);
      return;
    }
    const problem = textOf(row['problem']);
    const files = filesOf(row['files']);
    if (kind === GPU) {
      const name = textOf(row['name']) ?? 'gpu';
      const bytes = numberOf(textOf(row['memory']) ?? '');
      cards.push({
        vendor: DEVICES,
        uuid: id,
        busId: plainBusId(textOf(row['bus']) ?? ''),
        index: cards.length,
        name,
        type: typeNameOf(name),
        memoryBytes: bytes === null ? null : Math.round(bytes),
        memoryUsedBytes: null,
        busyPercent: null,
        ills: problem === null ? [] : [problem],
        ...(files.length === 0 ? {} : { files }),
      });
    } else if (problem === null) counted[kind] = (counted[kind] ?? 0) + 1;
    else {
      counted[kind] ??= 0;
      remarks.push(`${kind} ${id}: ${problem}`);
    }
  });
  return { cards, counted, remark: remarks.length === 0 ? null : remarks.join('; ') };
}
