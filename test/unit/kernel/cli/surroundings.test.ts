// Every command of the built program in surroundings that nobody would wish for: folders that are
// gone, closed or no folders, odd environments, full and closed outputs. Whatever comes of it is
// told in words; a stack would say that the program is wrong. Which commands meet which
// surroundings is drawn from a seed, so that a failure comes again: WEFT_TEST_SEED draws others.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { Command } from 'commander';
import { Dice } from '../../../../sim/chance.ts';
import { daemonNotes } from '../../../../src/kernel/cli/daemons/daemon-notes.ts';
import type { Verb } from '../../../../src/kernel/cli/verb.ts';
import { verbsOf, withInner } from '../../../../src/kernel/cli/verbs.ts';
import { locateHead } from '../../../../src/kernel/connect/locate.ts';
import { WINGS } from '../../../../src/wings.ts';
import { ROOT } from '../../../../tools/tree.ts';

const BUILT = path.join(ROOT, 'dist', 'bin', 'programs.cjs');
const SEED = Number(process.env['WEFT_TEST_SEED'] ?? 19);
const AT_ONCE = 4;
const HANG_MS = 60_000;
const isRoot = process.getuid?.() === 0;
const dice = new Dice(SEED);
const pick = <T>(all: readonly T[]): T => all[dice.whole(0, all.length - 1)] as T;

const box = mkdtempSync(path.join(tmpdir(), 'weft-around-'));
const at = (...names: string[]): string => path.join(box, ...names);

before(() => {
  assert.ok(existsSync(BUILT), 'run `npm run build` first');
  chmodSync(box, 0o755);
  writeFileSync(at('start.cjs'), `require(${JSON.stringify(BUILT)}).PROGRAMS.weft();\n`);
  writeFileSync(at('file'), 'x');
  writeFileSync(at('binary'), Buffer.from([0xff, 0xfe, 0, 1, 0x0a, 0x9b]));
  symlinkSync('loop', at('loop'));
  // Somebody else's: one may look into the folder, and not into what it keeps.
  for (const name of ['foreign', 'junk', 'cache', 'cache/compiled']) mkdirSync(at(name));
  for (const name of ['foreign/run', 'closed', 'junk/run', 'junk/head', 'junk/agents']) {
    mkdirSync(at(name), { mode: name.startsWith('junk') ? 0o755 : 0o700 });
  }
  writeFileSync(at('closed', 'file'), '{}', { mode: 0o600 });
  for (const name of ['cluster.json', 'run/restarts.json']) {
    writeFileSync(at('foreign', name), '{}', { mode: 0o644 });
  }
  const broken = [
    'cluster.json',
    'membership.json',
    'run/restarts.json',
    'run/head.pid',
    'weft.sock',
  ];
  for (const name of [...broken, 'weft.yaml', 'run/roster.json']) {
    writeFileSync(at('junk', name), '{"a": [');
  }
  // Each user keeps there what Node.js has compiled of the program for that user.
  for (const name of ['cache', 'cache/compiled']) chmodSync(at(name), 0o777);
});
after(() => rmSync(box, { recursive: true, force: true }));

/** What a command is started in: shell lines before it, and what differs in its environment. */
interface Surrounding {
  readonly says: string;
  readonly setUp?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

const set = (name: string, value: string | undefined): Surrounding => ({
  says: `${name}=${value ?? '(none)'}`.slice(0, 60),
  environment: { [name]: value },
});
const shell = (setUp: string): Surrounding => ({ says: setUp, setUp });

/** None of them lets a cluster start, nor leads to one that runs. */
const FOLDERS = (): readonly Surrounding[] =>
  [
    ...[at('file'), at('file', 'x'), at('closed'), at('closed', 'x'), at('foreign'), at('junk')],
    ...[at('loop'), '/dev/null', '/proc/self', at('x'.repeat(300)), `/${'y/'.repeat(2500)}`],
    at('a\n\u001b[2Jb\u00a0'),
  ].map((folder) => set('WEFT_DIR', folder));

const REST = (): readonly Surrounding[] => [
  ...[undefined, '', '/nonexistent', '/dev/null', 'relative', at('closed')].map((home) =>
    set('HOME', home),
  ),
  ...['garbage', ':/dev/null', '../../etc/passwd', '', 'UTC-99:99:99'].map((zone) =>
    set('TZ', zone),
  ),
  ...['xx_YY.nothing', 'tr_TR.UTF-8', ''].map((locale) => set('LC_ALL', locale)),
  ...[at('closed'), '/dev/null', at('file', 'x')].flatMap((folder) =>
    ['XDG_STATE_HOME', 'XDG_RUNTIME_DIR', 'XDG_CACHE_HOME', 'TMPDIR'].map((name) =>
      set(name, folder),
    ),
  ),
  ...[at('closed', 'file'), at('binary'), box, at('no', 'such'), '/proc/self/mem'].flatMap((file) =>
    ['WEFT_CONFIG', 'WEFT_TOKEN_FILE', 'WEFT_SOCKET'].map((name) => set(name, file)),
  ),
  ...['https://', 'http://x', ' ', 'https://[', '127.0.0.1:1', 'x:99999'].map((head) =>
    set('WEFT_HEAD', head),
  ),
  {
    says: 'a token of several lines',
    environment: { WEFT_HEAD: 'https://127.0.0.1:1', WEFT_TOKEN: 'wt_a_b\nexport X=1' },
  },
  {
    says: 'an odd token',
    environment: { WEFT_HEAD: '127.0.0.1:1', WEFT_TOKEN: 'wt_\u00e4\u20ac', WEFT_FINGERPRINT: 'x' },
  },
  ...['-1', '0', '9'.repeat(30)].map((columns) => set('COLUMNS', columns)),
  ...['', '/nonexistent'].map((folders) => set('PATH', folders)),
  ...[
    '> /dev/full',
    '2> /dev/full',
    '>&-',
    '2>&-',
    '<&-',
    '<&- >&- 2>&-',
    '< /',
    '> /dev/null',
  ].map((how) => shell(`exec ${how}`)),
  shell(`exec 1< ${at('file')}`),
  shell('mkdir -p gone.$$ && cd gone.$$ && rmdir ../gone.$$'),
  shell('cd /proc'),
  shell('ulimit -f 0'),
  shell('ulimit -n 40'),
  shell('umask 0777'),
];

const OPERANDS = ['1', '1[2]', 'n1', 'alice', '10m', '.', '/dev/null', 'lab/sweep'] as const;
const FILES = (): readonly string[] => [at('binary'), at('closed', 'file'), box, at('loop')];

/** What starts daemons, or sets up the machine, must not come to it: a word that is no option. */
const STARTS = new Set(['up', 'head', 'agent', 'gateway', 'init', 'join', 'simulate', 'down']);

interface Known {
  readonly words: readonly string[];
  /** How many operands it wants at least. */
  readonly operands: number;
  readonly hasOutput: boolean;
}

async function commands(): Promise<Known[]> {
  const all: Known[] = [];
  const add = (words: readonly string[], verb: Verb): void => {
    const command = new Command();
    verb.define(command);
    const wanted = command.registeredArguments.filter(({ required }) => required);
    const hasOutput = command.options.some(({ long }) => long === '--output');
    all.push({ words, operands: wanted.length, hasOutput });
  };
  for (const { name, load } of verbsOf(WINGS)) {
    const { verb } = await load();
    if (!('verbs' in verb)) {
      add([name], verb);
      continue;
    }
    const { verbs } = await withInner(name, verb, WINGS);
    for (const [inner, one] of Object.entries(verbs)) add([name, inner], one.verb);
  }
  return all;
}

interface Case {
  readonly argv: readonly string[];
  readonly around: readonly Surrounding[];
  readonly asNobody: boolean;
}

function draw({ words, operands, hasOutput }: Known, rest: Surrounding): Case {
  const operand = () => (dice.whole(0, 3) === 0 ? pick(FILES()) : pick(OPERANDS));
  const format = hasOutput ? ['-o', 'json'] : [];
  const more = pick([[], format, format, ['--dir', '/dev/null'], [operand()]]);
  const around = [pick(FOLDERS()), rest, ...(dice.whole(0, 3) === 0 ? [pick(REST())] : [])];
  const mustNot = STARTS.has(words[0] ?? '');
  const argv = [
    ...words,
    ...Array.from({ length: operands }, operand),
    ...(mustNot && !isRoot ? ['--no-such-option'] : more),
  ];
  return { argv, around, asNobody: isRoot && (mustNot || dice.whole(0, 1) === 0) };
}

interface Said {
  readonly output: string;
  readonly code: number | null;
  readonly signal: string | null;
}

async function run({ argv, around, asNobody }: Case): Promise<Said> {
  const user = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--'];
  const words = [...(asNobody ? user : []), process.execPath, at('start.cjs'), ...argv];
  const lines = around.flatMap(({ setUp }) => (setUp === undefined ? [] : [setUp]));
  // Where the program is found, PATH has no say: what it sees is set last.
  const given = Object.assign({ HOME: at('cache') }, ...around.map((one) => one.environment ?? {}));
  const names = Object.keys(given);
  const sets = Object.entries(given).map(([name, value]) =>
    value === undefined ? `-u${name}` : `${name}=${value}`,
  );
  const prefix = asNobody ? words.splice(0, user.length) : [];
  const line = [...prefix, '/usr/bin/env', ...sets, ...words];
  const script = `${lines.join('\n')}\nexec "$@"`;
  const child = spawn('sh', ['-c', script, 'sh', ...line], {
    cwd: at('cache'),
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: at('cache', 'compiled') },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: HANG_MS,
    killSignal: 'SIGKILL',
  });
  assert.ok(names.length > 0);
  const ended = new Promise<readonly [number | null, string | null]>((resolve) => {
    child.once('exit', (code, signal) => resolve([code, signal]));
  });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code, signal] = await ended;
  return { output: output + errors, code, signal };
}

/** Null: it is as it should be. */
function faultOf({ output, code, signal }: Said, { around }: Case): string | null {
  if (/a bug in this command|^\s+at .*[:(]\S+:\d+|node:internal|^Node\.js v/m.test(output)) {
    return `a stack:\n${output.slice(0, 2000)}`;
  }
  if (signal !== null) return `it was ended by ${signal}`;
  const canSpeak = !around.some(({ setUp = '' }) => /2>|ulimit -f/.test(setUp));
  if (code !== 0 && canSpeak && output.trim() === '') return `exit code ${code}, and not a word`;
  return null;
}

test('[D10] whatever surrounds a command, it says in words what is wrong', async () => {
  const known = await commands();
  // Each command in some surroundings, and in each surroundings some command.
  const cases = [
    ...known.map((one) => draw(one, pick(REST()))),
    ...REST().map((rest) => draw(pick(known), rest)),
  ];
  const faults: string[] = [];
  const next = cases.values();
  const work = async (): Promise<void> => {
    for (const one of next) {
      const fault = faultOf(await run(one), one);
      const where = one.around.map(({ says }) => says).join(', ');
      const who = one.asNobody ? 'nobody' : 'this user';
      if (fault !== null) faults.push(`weft ${one.argv.join(' ')} (${who}; ${where}): ${fault}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  assert.ok(cases.length > 100, 'all commands were tried');
  assert.deepEqual(faults, [], `WEFT_TEST_SEED=${SEED}`);
});

test('[D10] whoever uses the cluster of another hears nothing of its daemons, and no stack', (t) => {
  const notes = () => daemonNotes({ directory: at('foreign') }, null);
  if (isRoot) process.seteuid?.(65_534);
  else chmodSync(at('foreign', 'run'), 0);
  t.after(() => process.seteuid?.(process.getuid?.() ?? 0));
  assert.deepEqual(notes(), []);
});

test('[D10] where the head of another does not run, that is what is told, and not its files', async () => {
  if (!isRoot) chmodSync(at('foreign', 'run'), 0);
  const argv = ['run', '--dir', at('foreign'), 'true'];
  const { output, code } = await run({ argv, around: [], asNobody: isRoot });
  assert.equal(code, 7);
  assert.match(
    output,
    /^weft: No head answers at \S+foreign\/weft.sock: there is no such socket$/m,
  );
  const hint = isRoot ? /folder is another user's: ask them to start the cluster/ : /weft up/;
  assert.match(output, hint);
  // Who would change something there is told that, too, and of no file of ours.
  for (const word of ['down', 'up', 'head']) {
    const said = await run({ argv: [word, '--dir', at('foreign')], around: [], asNobody: isRoot });
    assert.equal(said.code, 2, word);
    assert.match(
      said.output,
      /^weft: this user may not write in \S+foreign\n {2}Let its owner do/m,
    );
  }
});

const TOKENS = ['wt_a_b\nexport X=1', 'wt_a b', 'wt_\u00e4', 'wt_a\u0000b'];

test('[D10] what is no token is told before it goes into a header, and not shown', () => {
  for (const token of TOKENS) {
    const environment = { WEFT_HEAD: 'h:1', WEFT_TOKEN: token };
    assert.throws(
      () => locateHead({}, environment),
      /^Failure: .*WEFT_TOKEN holds no token: it has/,
    );
    assert.throws(
      () => locateHead({}, environment),
      (error: Error) => !error.message.includes('wt_'),
    );
  }
  const pasted = locateHead({}, { WEFT_HEAD: 'h:1', WEFT_TOKEN: 'wt_a_b\n' });
  assert.equal(pasted.kind === 'url' && pasted.token, 'wt_a_b', 'a line end is no part of it');
});
