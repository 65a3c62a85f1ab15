// Which cards are joined by NVLink, as `nvidia-smi topo -m` tells: a table of words between cards,
// with other devices beside them.

import type { SeenCard } from '../../model/answer.ts';

/** The header is underlined, also in a pipe. */
const UNDERLINE = /\x1b\[\d*m/g;
const CARD = /^GPU(\d+)$/;
const NVLINK = /^NV\d+$/;
/** Lines and columns: more cards than a machine has are no table. */
const LINES_MAX = 300;

/**
 * For each number of a card the lowest of those that it is joined with; cards alone are left out.
 */
export function readLinks(text: string): ReadonlyMap<number, number> {
  const rows = text.replaceAll(UNDERLINE, '').split('\n').slice(0, LINES_MAX);
  const cells = rows.map((row) =>
    row
      .split('\t')
      .slice(0, LINES_MAX)
      .map((cell) => cell.trim()),
  );
  const columns = cells[0]?.map(numberIn) ?? [];
  const first = new Map<number, number>();
  const firstOf = (card: number): number => first.get(card) ?? card;
  for (const [name = '', ...words] of cells.slice(1)) {
    const row = numberIn(name);
    if (row === null) continue;
    words.forEach((word, at) => {
      const column = columns[at + 1] ?? null;
      if (column === null || !NVLINK.test(word)) return;
      const [to, from] = [firstOf(row), firstOf(column)].sort((a, b) => a - b) as [number, number];
      for (const card of [row, column]) if (!first.has(card)) first.set(card, firstOf(card));
      for (const [card, group] of first) if (group === from) first.set(card, to);
    });
  }
  return first;
}

function numberIn(name: string): number | null {
  const number = CARD.exec(name)?.[1];
  return number === undefined ? null : Number(number);
}

/** Cards with the uuid of the first of those that they are joined with. */
export function withLinks(
  cards: readonly SeenCard[],
  links: ReadonlyMap<number, number>,
): readonly SeenCard[] {
  const byIndex = new Map(cards.map((card) => [card.index, card.uuid]));
  return cards.map((card) => {
    const first = card.index === null ? undefined : links.get(card.index);
    const linkedWith = first === undefined ? undefined : byIndex.get(first);
    return linkedWith === undefined || card.partOf !== undefined ? card : { ...card, linkedWith };
  });
}
