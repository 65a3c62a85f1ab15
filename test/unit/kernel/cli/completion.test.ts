// What completion offers, and the scripts that ask for it. bash is driven by keys, as its user
// does: what a key inserted is then printed by bash itself, word by word.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { FakeHead } from './fake-head.ts';
import { jobView, nodeView } from './views.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const SCRIPTS = ['bash', 'zsh', 'fish'] as const;
/** What lets programs start quickly in the whole run of the tests (tools/testing/run-tests.ts). */
const QUICK_STARTS = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => /^NODE_(?:COMPILE|TESTS)_/.test(name)),
);

/** A head with one job that runs, one that is held and one that is done. */
function startHead(): Promise<FakeHead> {
  const running = jobView({ id: 41, state: 'running', name: '$(touch pwned)\n' });
  const held = jobView({ id: 42, held: true });
  const done = jobView({ id: 40, state: 'done' });
  return FakeHead.start({
    'GET /v1/jobs': ({ query }) => {
      const jobs = query['state'] === 'all' ? [held, running, done] : [held, running];
      const shown = query['state'] === 'pending' ? [held] : jobs;
      return { json: { jobs: shown, next: null } };
    },
    'GET /v1/nodes': () => ({
      json: { nodes: [nodeView({ name: 'n1' }), nodeView({ name: 'n2' })] },
    }),
  });
}

const CASES: readonly (readonly [words: string[], offered: string, adds: number])[] = [
  [['his'], 'history', 4],
  [['run', '--ti'], '--time', 4],
  [['kill', ''], '42 41', 4],
  [['kill', '41', ''], '42', 4],
  [['hold', ''], '', 4],
  [['release', ''], '42', 4],
  [['logs', ''], '42 41 40', 4],
  [['node', 'drain', 'n'], 'n1 n2', 4],
  [['run', '--nodes-named', 'n1,'], 'n1,n2', 4],
  [['jobs', '--state', 'r'], 'running', 4],
  [['jobs', '--state=r'], '--state=running', 4],
  [['history', '--state', ''], 'active done', 4],
  [['jobs', '-o', 't'], 'template=', 4],
  [['partition', 'set', 'gpu', 'po'], 'policy=', 4],
  [['partition', 'set', 'gpu', 'policy=ea'], 'policy=easy', 4],
  [['submit', ''], '', 0],
  [['submit', 'job.sh', '--ti'], '', 0],
  [['run', '--output', ''], '', 0],
  [['run', '--output=x'], '', 0],
  [['run', '--chdir', ''], '', 16],
  [['run', '--time', ''], '', 4],
  [['run', '--', 'l'], '', 0],
  [['--dir', '/nowhere', 'kill', ''], '', 4],
  [['nonsense', ''], '', 4],
];

test('completion offers what fits the place, and files only where a file is meant', async () => {
  await using head = await startHead();
  for (const [words, offered, adds] of CASES) {
    const { out } = await head.weft('completion', 'complete', '--', ...words);
    const lines = out.trimEnd().split('\n');
    assert.equal(lines.pop(), `:${adds}`, words.join(' '));
    const said = lines.map((line) => line.split('\t')[0]).join(' ');
    assert.equal(said, offered, words.join(' '));
  }
});

test('no script evaluates what is typed or offered', async () => {
  await using head = await startHead();
  for (const shell of SCRIPTS) {
    const { out } = await head.weft('completion', shell);
    assert.doesNotMatch(out, /\beval\b|compgen -W/, shell);
    assert.match(out, /weft completion complete -- /, shell);
  }
});

/** Typed keys, and the words that bash then has: TAB completes, META_ALL inserts every match. */
const TAB = '\t';
const META_ALL = '\x1b*';
/** To the front of the line, and a comment of it: a key that means something to the terminal, as
 * ^U does, would be taken by it while bash is not reading. */
const AS_COMMENT = '\x01#\r';
const KEYS: readonly (readonly [keys: string, words: readonly string[]])[] = [
  [`weft his${TAB}`, ['weft', 'history']],
  [`weft kill ${META_ALL}`, ['weft', 'kill', '41', '42']],
  [`weft run --output=scr${TAB}`, ['weft', 'run', '--output=script.sh']],
  [`weft submit my${TAB}`, ['weft', 'submit', 'my file.sh']],
  [`weft run --chdir fo${TAB}`, ['weft', 'run', '--chdir', 'folder/']],
  [`weft partition set gpu policy=ea${TAB}`, ['weft', 'partition', 'set', 'gpu', 'policy=easy']],
  [`weft jobs --state=r${TAB}`, ['weft', 'jobs', '--state=running']],
  [`weft jobs -o te${TAB}${TAB}x`, ['weft', 'jobs', '-o', 'template=x']],
  [`weft node show "n1${TAB}`, ['weft', 'node', 'show', 'n1']],
];

test('bash completes by the script, sourced twice and without bash-completion', async (t) => {
  await using head = await startHead();
  const bash = await startBash(t, head);
  for (const [keys, words] of KEYS) assert.deepEqual(await bash.wordsAfter(keys), words);
});

test('bash runs nothing of what is typed before TAB', async (t) => {
  await using head = await startHead();
  const bash = await startBash(t, head);
  await bash.type(`weft kill $(touch pwned)${TAB}${TAB}${AS_COMMENT}`);
  await bash.type(`weft kill \`touch pwned\` ${TAB}${TAB}${AS_COMMENT}`);
  await bash.type(`weft run --name "$(touch pwned)" --st${TAB}${TAB}${AS_COMMENT}`);
  assert.deepEqual(await bash.wordsAfter(`weft his${TAB}`), ['weft', 'history']);
  assert.ok(head.work.length > 0, 'the head was asked');
  assert.equal(existsSync(path.join(bash.folder, 'pwned')), false);
});

interface Bash {
  readonly folder: string;
  type(keys: string): Promise<void>;
  wordsAfter(keys: string): Promise<string[]>;
}

/** An interactive bash on a terminal of script(1), with completion sourced twice. */
async function startBash(t: TestContext, head: FakeHead): Promise<Bash> {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-completion-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  prepareFolder(folder, (await head.weft('completion', 'bash')).out);
  const shell = 'exec bash --norc --noprofile -i';
  const child = spawn('script', ['-qfec', shell, '/dev/null'], {
    cwd: folder,
    env: {
      ...QUICK_STARTS,
      PATH: `${folder}/bin:${process.env['PATH']}`,
      HOME: folder,
      WEFT_DIR: head.directory,
      XDG_RUNTIME_DIR: head.directory,
      TERM: 'dumb',
    },
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  let heard = '';
  child.stdout.on('data', (text) => {
    heard += text;
  });
  const until = async (pattern: RegExp): Promise<RegExpExecArray> => {
    for (let found = pattern.exec(heard); ; found = pattern.exec(heard)) {
      if (found !== null) return found;
      await once(child.stdout, () => `bash said only ${JSON.stringify(heard)}`);
    }
  };
  const type = async (keys: string) => void child.stdin.write(keys);
  await type('stty cols 400; . ./completion.bash; . ./completion.bash; echo read""y\r');
  await until(/^ready/m);
  return {
    folder,
    type,
    async wordsAfter(keys) {
      heard = '';
      // Quotes that are still open are closed by bash when the only match is inserted.
      await type(`${keys}\x01printf '<%s>' \x05\r`);
      const [line] = await until(/^<weft>.*>/m);
      return line.slice(1, -1).split('><');
    },
  };
}

function prepareFolder(folder: string, script: string): void {
  mkdirSync(path.join(folder, 'folder'));
  mkdirSync(path.join(folder, 'bin'));
  for (const name of ['my file.sh', 'script.sh', 'fort.txt'])
    writeFileSync(path.join(folder, name), '');
  writeFileSync(path.join(folder, 'completion.bash'), script);
  const program = `#!/bin/sh\nexec '${process.execPath}' '${ROOT}/bin/weft.mjs' "$@"\n`;
  writeFileSync(path.join(folder, 'bin', 'weft'), program, { mode: 0o755 });
}

/** The next piece of output, within a minute. */
function once(stream: NodeJS.ReadableStream, what: () => string): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(what())), 60_000);
    stream.once('data', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
