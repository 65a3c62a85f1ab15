// What a terminal sends for the keys of a keyboard (ECMA-48, xterm's ctlseqs), by name.

/** A named key, or one character. */
export type Key = string;

const SEQUENCES: Readonly<Record<string, Key>> = {
  '[A': 'up',
  '[B': 'down',
  '[C': 'right',
  '[D': 'left',
  OA: 'up',
  OB: 'down',
  OC: 'right',
  OD: 'left',
  '[H': 'home',
  '[F': 'end',
  '[1~': 'home',
  '[4~': 'end',
  '[7~': 'home',
  '[8~': 'end',
  OH: 'home',
  OF: 'end',
  '[5~': 'page-up',
  '[6~': 'page-down',
  '[3~': 'delete',
  '[Z': 'back-tab',
};

const CONTROLS: Readonly<Record<string, Key>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  '\b': 'backspace',
  '\x7f': 'backspace',
  '\x03': 'ctrl-c',
  '\x04': 'ctrl-d',
  '\x0c': 'ctrl-l',
  '\x15': 'ctrl-u',
  '\x1a': 'ctrl-z',
};

/** A control sequence, or the beginning of one: CSI with parameters, or SS3. */
const SEQUENCE = /^(?:\[[0-9;:<=>?]*[ -/]*(?:[@-~]|$)|O(?:.|$))/u;

export interface ReadKeys {
  readonly keys: readonly Key[];
  /** The beginning of a sequence whose rest has not come; `\x1b` alone may be the key itself. */
  readonly rest: string;
}

/** Keys of what has come; sequences that name no key here are passed over. */
export function readKeys(text: string): ReadKeys {
  const keys: Key[] = [];
  for (let at = 0; at < text.length; ) {
    const character = String.fromCodePoint(text.codePointAt(at) as number);
    at += character.length;
    if (character !== '\x1b') {
      const key = CONTROLS[character] ?? character;
      if (key.length > character.length || character >= ' ') keys.push(key);
      continue;
    }
    const behind = text.slice(at);
    if (behind === '') return { keys, rest: '\x1b' };
    const [sequence] = SEQUENCE.exec(behind) ?? [];
    if (sequence === undefined) {
      keys.push('escape');
      continue;
    }
    if (isBeginning(sequence)) return { keys, rest: `\x1b${sequence}` };
    const key = SEQUENCES[sequence];
    if (key !== undefined) keys.push(key);
    at += sequence.length;
  }
  return { keys, rest: '' };
}

function isBeginning(sequence: string): boolean {
  return sequence === 'O' || sequence === '[' || !/[@-~]$/.test(sequence);
}
