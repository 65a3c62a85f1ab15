// Which cards are joined by NVLink, as `nvidia-smi topo -m` tells: a table of words between cards,
// with other devices beside them.

import { firstOfJoined, type Pair } from '../links.ts';

/** The header is underlined, also in a pipe. */
const UNDERLINE = /\x1b\[\d*m/g;
const CARD = /^GPU(\d+)$/;
const NVLINK = /^NV\d+$/;
/** Lines and columns: more cards than a machine has are no table. */
const LINES_MAX = 300;

/** Reads the table: for each number of a card the lowest of those that it is joined with. */
export function readLinks(text: string): ReadonlyMap<number, number> {
  const rows = text.replaceAll(UNDERLINE, '').split('\n').slice(0, LINES_MAX);
  const cells = rows.map((row) =>
    row
      .split('\t')
      .slice(0, LINES_MAX)
      .map((cell) => cell.trim()),
  );
  const columns = cells[0]?.map(numberIn) ?? [];
  const pairs = cells.slice(1).flatMap(([name = '', ...words]): Pair[] => {
    const row = numberIn(name);
    if (row === null) return [];
    return words.flatMap((word, at): Pair[] => {
      const column = columns[at + 1] ?? null;
      return column === null || !NVLINK.test(word) ? [] : [[row, column]];
    });
  });
  return firstOfJoined(pairs);
}

function numberIn(name: string): number | null {
  const number = CARD.exec(name)?.[1];
  return number === undefined ? null : Number(number);
}
