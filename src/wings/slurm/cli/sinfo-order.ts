// The order of lines that `sinfo --sort` asks for: letters of its columns; `-` turns one around.

import { err, ok, type Result } from '../../../kernel/base/result.ts';

type Order<Row> = (a: Row, b: Row) => number;

/** Order by keys of letters, or of `#` and a letter. Lines that are equal stay as they are. */
export function orderOf<Row>(
  text: string,
  keys: Readonly<Record<string, (row: Row) => number | string>>,
): Result<Order<Row>, string> {
  const orders: Order<Row>[] = [];
  for (const [said, signs = '', letter = ''] of text.matchAll(/([#+-]*)([^,#+-])|[^,]/g)) {
    const name = signs.includes('#') ? `#${letter}` : letter;
    const key = Object.hasOwn(keys, name) ? keys[name] : undefined;
    if (key === undefined) return err(`Invalid sort specification: ${said}`);
    const turn = signs.includes('-') ? -1 : 1;
    orders.push((a, b) => turn * compare(key(a), key(b)));
  }
  return ok((a, b) => orders.map((order) => order(a, b)).find((found) => found !== 0) ?? 0);
}

/** By size where both begin with a number, as `4+` and `2.50` do; else by letters. */
function compare(a: number | string, b: number | string): number {
  const [one, other] = [Number.parseFloat(String(a)), Number.parseFloat(String(b))];
  if (!Number.isNaN(one) && !Number.isNaN(other) && one !== other) return one - other;
  return a < b ? -1 : Number(a > b);
}
