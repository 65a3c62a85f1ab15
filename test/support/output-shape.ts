// Whether output has the shape that a page shows: the same words, whatever the numbers, the times,
// the widths of columns and the secrets are.

/** True when the lines match; `…` stands for any text, alone on a line for any lines. */
export function hasShape(shown: readonly string[], said: readonly string[]): boolean {
  const pattern = shown.map((line) =>
    line === '…' ? '(?:.*\\n)*?' : `${escaped(shape(line))}\\n`,
  );
  return new RegExp(`^${pattern.join('')}$`).test(said.map((line) => `${shape(line)}\n`).join(''));
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replaceAll('…', '.*');
}

const MONTH = 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec';

/** The line without what differs from run to run. */
export function shape(line: string): string {
  return line
    .replace(/\barch=[^\s…]+/g, 'LABELS')
    .replace(/\b(wt|ws|wj)_[0-9a-f]{12}_(?:[\w-]+|…)/g, '$1_#_#')
    .replace(/\b[0-9a-f]{12,64}\b/g, '#')
    .replace(/weft-join:[\w-]{8,}/g, 'weft-join:#')
    .replace(new RegExp(`\\b(${MONTH}) +\\d+`, 'g'), '#')
    .replace(/\d+(?:[.:,T-]\d+)*(?:ms|[smhdKMGTZ]\b|(?=\d))?/g, '#')
    .replace(/#(?:ms|[smhdKMGTZ])?(?:[ :]?#(?:ms|[smhdKMGTZ])?)+/g, '#')
    .replace(/\bn#(?:,n#)+/g, 'n#')
    .replace(/[ \t]+/g, ' ')
    .trimEnd();
}
