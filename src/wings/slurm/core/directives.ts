// The `#SBATCH` lines of a script: those before its first command, as words with blanks and quotes.

/** The blank behind it may be missing, as in Slurm. */
const PREFIX = /^#SBATCH(?=[\s-]|$)/;

export interface Directive {
  /** Counted from 1. */
  readonly line: number;
  /** Null: a quote is not closed. */
  readonly words: readonly string[] | null;
}

export function readDirectives(script: string): Directive[] {
  const found: Directive[] = [];
  for (const [index, line] of script.split('\n').entries()) {
    if (PREFIX.test(line)) {
      found.push({ line: index + 1, words: splitWords(line.replace(PREFIX, '')) });
    } else if (/^\s*[^\s#]/.test(line)) break;
  }
  return found;
}

const WORD = /(?:[^\s"'#]|"[^"]*"|'[^']*')+|#.*/g;

/** What follows a `#` behind a blank is a remark. */
function splitWords(text: string): string[] | null {
  if (text.replace(WORD, '').trim() !== '') return null;
  const words: string[] = [];
  for (const [word] of text.matchAll(WORD)) {
    if (word.startsWith('#')) break;
    words.push(word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'));
  }
  return words;
}
