// The file in which the owner of a machine says what may be done with it. Root says by a mode and
// an owner of the file who that is; nothing is believed that everybody may write.

import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { didYouMean } from '../../../kernel/base/nearest-word.ts';
import { toPlainLine } from '../../../kernel/base/plain-line.ts';
import { err, ok, type Result } from '../../../kernel/base/result.ts';
import { fileProblem } from '../../../kernel/config/file-problem.ts';
import { type Key, key } from '../../../kernel/config/key.ts';
import { parseValue, type Value } from '../../../kernel/config/value.ts';
import type { OwnerFile, OwnerRules, OwnerYield } from '../model/owner-file.ts';

const NONE: OwnerFile = { rules: null, problem: null };
const BYTES_MAX = 65_536;
const OTHERS_WRITE = 0o002;

/** Not another file than it names: no link of anybody is followed, and no pipe is waited for. */
const HOW = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export function readOwnerFile(path: string): OwnerFile {
  let file: number;
  try {
    file = openSync(path, HOW);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return NONE;
    if (code === 'ELOOP') return wrong(path, 'is a link; make it a file');
    return wrong(path, `cannot be read: ${fileProblem(error)}`);
  }
  try {
    const problem = problemOf(fstatSync(file));
    if (problem !== null) return wrong(path, problem);
    const parsed = parseOwnerRules(textOf(file), path);
    return parsed.ok
      ? { rules: parsed.value, problem: null }
      : { rules: null, problem: parsed.error };
  } catch (error) {
    return wrong(path, `cannot be read: ${fileProblem(error)}`);
  } finally {
    closeSync(file);
  }
}

function problemOf(stats: Stats): string | null {
  if (!stats.isFile()) return 'is no file';
  if (stats.size > BYTES_MAX) return 'is too large for a few rules';
  if ((stats.mode & OTHERS_WRITE) !== 0) return 'may be written by everybody: chmod o-w';
  return null;
}

function textOf(file: number): string {
  const bytes = Buffer.alloc(BYTES_MAX);
  return bytes.toString('utf8', 0, readSync(file, bytes, 0, BYTES_MAX, 0));
}

function wrong(path: string, what: string): OwnerFile {
  return { rules: null, problem: `${path} ${what}` };
}

// What the owner of a machine says of it, in a file of the owner's: of whom it takes jobs, what of
// it stays the owner's, and when it stands aside.

/** A machine has that many users at most, and a message about a node that many words. */
const USERS_MAX = 64;
const LOGIN = { is: /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/, expected: 'a login name' };

const KEYS: readonly Key[] = [
  key('users', 'texts', null, '', { form: LOGIN }),
  key('cpus', 'count', null, '', { max: 100_000 }),
  key('gpus', 'count', null, '', { max: 1000 }),
  key('hours', 'hours', null, ''),
  key('idle_below', 'duration', null, '', { min: 10_000 }),
  key('sessions', 'flag', null, ''),
  key('load_above', 'number', null, '', { min: 0.01, max: 10_000 }),
];
const NAMES = KEYS.map(({ name }) => name);

/** `users: ann, ben  # the two of us`; names may stand in brackets, and in quotes. */
const LINE = /^([A-Za-z_]+):(?:\s+(.*))?$/;
const COMMENT = /(^|\s)#.*$/;
const QUOTED = /(["'])([^"']*)\1/g;
/** What a message shows of a line. */
const SHOWN_MAX = 60;

/**
 * Lines `key: value`, which is YAML. An error names the line.
 * @param file for messages only
 */
export function parseOwnerRules(text: string, file: string): Result<OwnerRules, string> {
  const said = new Map<string, Value>();
  for (const [index, written] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const line = written.replace(COMMENT, '').trimEnd();
    if (line === '' || line === '---') continue;
    const read = readLine(line);
    if (!read.ok) return err(`${file}:${index + 1}: ${read.error}`);
    const { name, value } = read.value;
    if (said.has(name)) return err(`${file}:${index + 1}: ${name} is there twice`);
    said.set(name, value);
  }
  return ok(rulesOf(said));
}

function readLine(line: string): Result<{ name: string; value: Value }, string> {
  const [, name = '', written = ''] = LINE.exec(line) ?? [];
  const known = KEYS.find((one) => one.name === name);
  if (known === undefined) {
    const meant = name === '' ? '' : didYouMean(name, NAMES);
    const shown = toPlainLine(line.trim()).slice(0, SHOWN_MAX);
    return err(`'${shown}' is no rule.${meant} Write KEY: VALUE, with ${NAMES.join(', ')}`);
  }
  const plain = written.replace(/^\[(.*)\]$/, '$1').replaceAll(QUOTED, '$2');
  const value = parseValue(known, plain);
  if (!value.ok) return err(`${name}: ${value.error}`);
  if (name !== 'users') return ok({ name, value: value.value });
  const users = value.value as readonly string[];
  if (users.length === 0) return err('users: name somebody, or leave the line out');
  if (users.length > USERS_MAX) return err(`users: at most ${USERS_MAX} can be named`);
  return ok({ name, value: users });
}

function rulesOf(said: ReadonlyMap<string, Value>): OwnerRules {
  const wish: { -readonly [K in keyof OwnerYield]?: OwnerYield[K] } = {};
  const read = <T extends Value>(name: string, put: (value: T) => void): void => {
    if (said.has(name)) put(said.get(name) as T);
  };
  read<string | null>('hours', (hours) => (wish.hours = hours));
  read<number | null>('idle_below', (below) => (wish.idleBelowMs = below));
  read<boolean>('sessions', (sessions) => (wish.sessions = sessions));
  read<number>('load_above', (load) => (wish.loadAbove = load));
  return {
    users: (said.get('users') as readonly string[] | undefined) ?? null,
    cpuCount: (said.get('cpus') as number | undefined) ?? 0,
    gpuCount: (said.get('gpus') as number | undefined) ?? 0,
    yield: wish,
  };
}
