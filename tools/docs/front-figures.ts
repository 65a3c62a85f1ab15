// The table of figures in README.md: rows of bench/RESULTS.md that are marked there, each whole.

/** Begins a row of the results that stands in README.md, too. */
const MARK = '◆ ';
const COLUMNS = '| what | Weft | beside it | asked | when, load |';
const BEGIN = '<!-- figures: rows of bench/RESULTS.md with ◆, put here by tools/docs.ts -->';
const END = '<!-- end of figures -->';
const TITLE = [
  '| measured on 2 cores, real processes | Weft | beside it | aim | day of 2026, load |',
  '|---|---|---|---|---|',
];

/** The front page with the table that the results give. Throws where either lacks something. */
export function withFigures(frontPage: string, results: string): string {
  const [before, rest] = parts(frontPage, BEGIN);
  const [, after] = parts(rest, END);
  const rows = markedRows(results);
  if (rows.length === 0) throw new Error(`bench/RESULTS.md: no row begins with ${MARK.trim()}`);
  const table = [...TITLE, ...rows].join('\n');
  return `${before}${BEGIN}\n${table}\n${END}${after}`;
}

function parts(text: string, mark: string): [string, string] {
  const [before, after, ...more] = text.split(mark);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`README.md: exactly one line must be ${mark}`);
  return [before, after];
}

function markedRows(results: string): string[] {
  let columns = '';
  return results.split('\n').flatMap((line, at, lines) => {
    if (lines[at + 1]?.startsWith('|---')) columns = line;
    if (!line.startsWith(`| ${MARK}`)) return [];
    const problem = columns === COLUMNS ? problemOf(line) : `not in a table of ${COLUMNS}`;
    if (problem !== null) throw new Error(`bench/RESULTS.md:${at + 1}: ${problem}`);
    return [line.replace(MARK, '')];
  });
}

/** What keeps a row from being understood and believed by itself. */
function problemOf(row: string): string | null {
  const [what = '', ours = '', beside = '', , when = ''] = row
    .slice(`| ${MARK}`.length, -' |'.length)
    .split(/ ?\| ?/);
  if (/^(…|the same)/.test(what)) return 'the row continues another one';
  if (ours === '') return 'the row has no figure';
  if (beside === '') return 'the row has nothing beside it';
  if (!/^\d\d-\d\d, \d/.test(when)) return 'the row does not say its day and load';
  return null;
}
