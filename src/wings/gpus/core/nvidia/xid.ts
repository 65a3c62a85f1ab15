// What the kernel's log says of cards of NVIDIA: an XID names an error, and some errors need a
// reset of the card, or of the machine, before it can be trusted with work again.

import { plainBusId } from '../cells.ts';

/** By bus address: why the card needs a reset, in words. */
export type Xids = ReadonlyMap<string, string>;

export const NO_XIDS: Xids = new Map();

/** By NVIDIA's catalogue of errors; all others are the program's own, or are ignored. */
const NEEDS_RESET: ReadonlySet<number> = new Set([
  ...[46, 48, 62, 64, 79, 95, 109, 119, 120, 140, 143, 158],
]);
const XID = /NVRM: Xid \(PCI:([0-9a-f]+:[0-9a-f]{2}:[0-9a-f]{2})(?:\.\d)?\): (\d+)(?:, *(.*))?/i;
/** The driver tells the action in words. */
const ACTION = 154;
const ACTION_WORDS = /(GPU Reset Required|Drain and Reset|Node Reboot Required)/i;
/** Whatever was before, the cards were set up anew. */
const LOADED = /NVRM: loading NVIDIA UNIX/;

/** After these lines of the log. */
export function xidsAfter(before: Xids, lines: readonly string[]): Xids {
  let xids = before;
  for (const line of lines) {
    if (LOADED.test(line)) xids = NO_XIDS;
    const found = xidIn(line);
    if (found !== null) xids = new Map(xids).set(found.busId, found.words);
  }
  return xids;
}

function xidIn(line: string): { readonly busId: string; readonly words: string } | null {
  const [, bus, number, rest = ''] = XID.exec(line) ?? [];
  if (bus === undefined) return null;
  const code = Number(number);
  const action = code === ACTION ? ACTION_WORDS.exec(rest)?.[1] : undefined;
  if (!NEEDS_RESET.has(code) && action === undefined) return null;
  // Pid and name are of whoever ran there, and no concern of others.
  const said = action ?? rest.replace(/^(?:(?:pid|name|channel)=[^,]*, *)+/i, '').trim();
  const words = said === '' ? `XID ${code}` : `XID ${code}: ${said.slice(0, 120)}`;
  return { busId: plainBusId(`${bus}.0`), words };
}
