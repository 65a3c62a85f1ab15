// Functions of a packed value that have variables in common: they are made within one scope, there
// as here.

import { type CellUse, sharedCells } from './cells.ts';
import { NotSendable } from './not-sendable.ts';
import type { Cell, SentFunction, SentGroup } from './packed-value.ts';

/** A variable of a function in the packed value, and what it became. */
export interface PackedUse extends CellUse {
  /** The function's place in the table. */
  readonly at: number;
  readonly cell: Cell;
}

interface Shared {
  readonly name: string;
  readonly cell: Cell;
  readonly uses: readonly PackedUse[];
}

/** Takes what they share out of the functions, and puts it into groups. Throws NotSendable. */
export function groupFunctions(
  functions: SentFunction[],
  uses: readonly PackedUse[],
): readonly SentGroup[] {
  const shared = sharedCells(uses).map((set) => ({
    name: (set[0] as PackedUse).name,
    cell: (set[0] as PackedUse).cell,
    uses: set,
  }));
  return components(shared).map((cells) => groupOf(functions, cells, uses));
}

/** Variables that some function has both of are in one group. */
function components(all: readonly Shared[]): Shared[][] {
  const found: { cells: Shared[]; members: Set<number> }[] = [];
  for (const cell of all) {
    const mine = { cells: [cell], members: new Set(cell.uses.map(({ at }) => at)) };
    for (const other of found.splice(0)) {
      if (![...other.members].some((at) => mine.members.has(at))) found.push(other);
      else {
        mine.cells.push(...other.cells);
        for (const at of other.members) mine.members.add(at);
      }
    }
    found.push(mine);
  }
  return found.map(({ cells }) => cells);
}

function groupOf(
  functions: SentFunction[],
  cells: readonly Shared[],
  uses: readonly PackedUse[],
): SentGroup {
  const members = [...new Set(cells.flatMap((cell) => cell.uses.map(({ at }) => at)))].sort(
    (one, other) => one - other,
  );
  refuseTwoBases(
    members.map((at) => functions[at]?.base),
    cells,
  );
  const texts = members.map((at) => functions[at]?.expression ?? '');
  const names = cells.map((cell, at) =>
    isAlone(cell, { cells, members, uses }) ? cell.name : freshName(`${cell.name}$${at}`, texts),
  );
  for (const at of members) {
    const sent = functions[at] as SentFunction;
    const mine = uses.filter((use) => use.at === at);
    const renamed = new Map<string, string>();
    const gone = new Set<string>();
    for (const [nth, cell] of cells.entries()) {
      // One export may have several names in a module that imports it.
      for (const use of cell.uses.filter((one) => one.at === at)) {
        gone.add(use.name);
        if (names[nth] !== use.name) renamed.set(use.name, names[nth] as string);
      }
    }
    const kept = sent.names.map((_, nth) => nth).filter((nth) => !gone.has(sent.names[nth] ?? ''));
    functions[at] = {
      ...sent,
      expression: mine[0]?.syntax.renamed(renamed) ?? sent.expression,
      names: kept.map((nth) => sent.names[nth] as string),
      cells: kept.map((nth) => sent.cells[nth] as Cell),
    };
  }
  if (process.sourceMapsEnabled === true) forgetOneLine(functions, members);
  return { members, names, cells: cells.map(({ cell }) => cell) };
}

/**
 * In one scope two functions of one line cannot both have their columns, by which a source map
 * tells lines: of such a line, as tools write it, a stack would name a wrong one.
 */
function forgetOneLine(functions: SentFunction[], members: readonly number[]): void {
  const lineOf = (at: number): number => functions[at]?.place?.line ?? 0;
  const order = members.toSorted((one, other) => lineOf(one) - lineOf(other));
  const isOneLine = order.some((at, nth) => {
    const next = order[nth + 1];
    const lines = functions[at]?.expression.split('\n').length ?? 0;
    return next !== undefined && lineOf(at) + lines > lineOf(next);
  });
  if (!isOneLine) return;
  for (const at of members) {
    const { place: _, ...sent } = functions[at] as SentFunction;
    functions[at] = sent;
  }
}

/** What they import is found from one file. */
function refuseTwoBases(bases: readonly (string | undefined)[], cells: readonly Shared[]): void {
  const files = new Set(bases.filter((base) => base !== undefined));
  if (files.size < 2) return;
  const words = 'functions of two files use it that both call `import()`; move one of the imports';
  throw new NotSendable(cells[0]?.name ?? '', words);
}

/** Whether the name means this variable to every function of the group that says it. */
function isAlone(
  cell: Shared,
  group: {
    readonly cells: readonly Shared[];
    readonly members: readonly number[];
    readonly uses: readonly PackedUse[];
  },
): boolean {
  if (cell.uses.some(({ name }) => name !== cell.name)) return false;
  if (group.cells.some((other) => other !== cell && other.name === cell.name)) return false;
  const having = new Set(cell.uses.map(({ at }) => at));
  return group.members.every((at) => {
    if (having.has(at)) return true;
    // Its own variable of that name is nearer; the global one would be hidden.
    const own = group.uses.filter((use) => use.at === at);
    const isOwn = own.some(({ name }) => name === cell.name);
    return isOwn || own[0]?.syntax.free.includes(cell.name) !== true;
  });
}

function freshName(name: string, texts: readonly string[]): string {
  return texts.some((text) => text.includes(name)) ? freshName(`${name}$`, texts) : name;
}
