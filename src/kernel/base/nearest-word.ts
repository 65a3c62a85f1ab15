// The word somebody probably meant, for messages about unknown names.

/** The candidate with the fewest edits away, if it is close enough to be a slip of the finger. */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  let best: string | null = null;
  // Two of five letters are another word.
  const slips = word.length > 5 ? 2 : 1;
  let bestDistance = Math.max(slips, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** ` Did you mean 'x'?`, or nothing. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const found = nearest(word, candidates);
  return found === null ? '' : ` Did you mean '${found}'?`;
}

// Optimal string alignment: a swap of neighbours is one slip, not two.
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) row.push(cell(rows, row, { a, b, i, j }));
    rows.push(row);
  }
  return rows[a.length]?.[b.length] ?? 0;
}

function cell(
  rows: readonly number[][],
  row: readonly number[],
  at: { a: string; b: string; i: number; j: number },
): number {
  const { a, b, i, j } = at;
  const value = (r: number, c: number) => rows[r]?.[c] ?? 0;
  const same = a[i - 1] === b[j - 1] ? 0 : 1;
  const base = Math.min(value(i - 1, j) + 1, (row[j - 1] ?? 0) + 1, value(i - 1, j - 1) + same);
  const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
  return swapped ? Math.min(base, value(i - 2, j - 2) + 1) : base;
}
