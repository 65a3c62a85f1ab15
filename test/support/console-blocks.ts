// Fenced blocks of a markdown page: what was typed, and what is said to have come of it.
//
// A comment before a block is about it: `<!-- not run: why -->` for one that no test can run, and
// `<!-- before` with lines as in a block for what the reader of the page has done already.

export interface Typed {
  readonly command: string;
  /** The output that the page shows. */
  readonly output: readonly string[];
}

export type Block = { readonly line: number } & (
  | { readonly kind: 'run'; readonly before: readonly Typed[]; readonly typed: readonly Typed[] }
  | { readonly kind: 'not_run'; readonly reason: string }
  /** Data, code or a synopsis made from the code. */
  | { readonly kind: 'other' }
  /** Commands without a prompt and without a word why they are not run. */
  | { readonly kind: 'unmarked' }
);

const BLOCK =
  /(?<comments>(?:^<!--(?:(?!-->)[\s\S])*-->\n+)*)^```(?<info>[^\n]*)\n(?<text>[\s\S]*?)^```$/gm;

/** All blocks of a page, in order. */
export function readBlocks(page: string): Block[] {
  const usageEnds = page.startsWith('# ') ? page.indexOf('\n## Example') : -1;
  return [...page.matchAll(BLOCK)].map((found) => {
    const { comments = '', info = '', text = '' } = found.groups ?? {};
    const line = page.slice(0, found.index + comments.length).split('\n').length;
    if (info !== '' && info !== 'console') return { kind: 'other', line };
    const reason = /<!-- not run: ([\s\S]*?) -->/.exec(comments)?.[1];
    if (reason !== undefined) return { kind: 'not_run', line, reason };
    if (!/^\$ /m.test(text)) {
      return { kind: found.index < usageEnds ? 'other' : 'unmarked', line };
    }
    const before = /<!-- before\n([\s\S]*?)-->/.exec(comments)?.[1] ?? '';
    return { kind: 'run', line, before: readTyped(before), typed: readTyped(text) };
  });
}

function readTyped(text: string): Typed[] {
  const typed: { command: string; output: string[] }[] = [];
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const last = typed.at(-1);
    if (last !== undefined && last.output.length === 0 && isOpen(last.command)) {
      last.command += `\n${line}`;
    } else if (line.startsWith('$ ')) typed.push({ command: line.slice(2), output: [] });
    else last?.output.push(line);
  }
  return typed;
}

/** A line that ends in a backslash goes on, and so does `<<'END'` until the line END. */
function isOpen(command: string): boolean {
  const word = /<<'(\w+)'/.exec(command)?.[1];
  return command.endsWith('\\') || (word !== undefined && !command.endsWith(`\n${word}`));
}
