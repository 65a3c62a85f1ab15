// A source file cut into what is code and what is comment, so that no rule is fooled by a word in
// a string. Both views have the length and the line breaks of the text: positions agree.

/** One file as the rules see it. */
export interface Source {
  /** Path from the top of the repository, with `/`. */
  readonly path: string;
  readonly text: string;
  /** The text with comments and the insides of strings, templates and regexes blanked. */
  readonly code: string;
  /** The text with everything but comments blanked. */
  readonly comments: string;
}

/** Cuts a TypeScript file; does not fail on broken code, only blanks too much or too little. */
export function readSource(path: string, text: string): Source {
  const blank = text.replace(/[^\n]/g, ' ').split('');
  const cut: Cut = { text, code: [...blank], comments: [...blank], braces: [] };
  let at = 0;
  while (at < text.length) at = step(cut, at);
  return { path, text, code: cut.code.join(''), comments: cut.comments.join('') };
}

/** Line number, from 1, of a position in a text. */
export function lineAt(text: string, position: number): number {
  return text.slice(0, position).split('\n').length;
}

interface Cut {
  readonly text: string;
  readonly code: string[];
  readonly comments: string[];
  /** Open braces inside each `${`: when the last one closes, the template goes on. */
  readonly braces: number[];
}

function step(cut: Cut, at: number): number {
  const { text, code, braces } = cut;
  const char = text[at] ?? '';
  if (text.startsWith('//', at)) return copyComment(cut, at, positionOf(text, '\n', at));
  if (text.startsWith('/*', at)) return copyComment(cut, at, positionOf(text, '*/', at + 2) + 2);
  if (char === "'" || char === '"') return skipString(cut, at, char);
  if (char === '`') return skipTemplate(cut, at);
  if (char === '/' && startsRegex(code, at)) return skipRegex(cut, at);
  if (char === '{' && braces.length > 0) braces.push((braces.pop() ?? 0) + 1);
  if (char === '}' && braces.length > 0) {
    const open = braces.pop() ?? 0;
    if (open === 0) return skipTemplate(cut, at);
    braces.push(open - 1);
  }
  code[at] = char;
  return at + 1;
}

function positionOf(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found < 0 ? text.length : found;
}

function copyComment(cut: Cut, from: number, until: number): number {
  const end = Math.min(until, cut.text.length);
  for (let at = from; at < end; at += 1) cut.comments[at] = cut.text[at] ?? '';
  return end;
}

function skipString(cut: Cut, from: number, quote: string): number {
  cut.code[from] = quote;
  let at = from + 1;
  while (at < cut.text.length && cut.text[at] !== quote && cut.text[at] !== '\n') {
    at += cut.text[at] === '\\' ? 2 : 1;
  }
  if (cut.text[at] === quote) cut.code[at] = quote;
  return at + 1;
}

/** From a backtick, or from the brace that closes a `${`, to the next `${` or backtick. */
function skipTemplate(cut: Cut, from: number): number {
  cut.code[from] = cut.text[from] ?? '';
  let at = from + 1;
  while (at < cut.text.length && cut.text[at] !== '`') {
    if (cut.text.startsWith('${', at)) {
      cut.code[at + 1] = '{';
      cut.braces.push(0);
      return at + 2;
    }
    at += cut.text[at] === '\\' ? 2 : 1;
  }
  cut.code[at] = '`';
  return at + 1;
}

const BEFORE_REGEX = /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|do|else))$/;

function startsRegex(code: readonly string[], at: number): boolean {
  // A window is enough: what precedes a regex on its line, or the end of the line before.
  const before = code
    .slice(Math.max(0, at - 200), at)
    .join('')
    .trimEnd();
  return BEFORE_REGEX.test(before);
}

function skipRegex(cut: Cut, from: number): number {
  cut.code[from] = '/';
  let at = from + 1;
  let inClass = false;
  while (at < cut.text.length && cut.text[at] !== '\n') {
    const char = cut.text[at];
    if (char === '/' && !inClass) break;
    if (char === '[') inClass = true;
    if (char === ']') inClass = false;
    at += char === '\\' ? 2 : 1;
  }
  if (cut.text[at] === '/') cut.code[at] = '/';
  return at + 1;
}
