// The first quarter of an hour with Weft: a copy of the repository as a fresh clone has it, the
// machine's own Node, and what the front page and `npm start` say to type.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { whenKilled } from '../support/when-killed.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');
/** Long enough for a machine that is busy with other things. */
const STEP_MAX_MS = 240_000;
/** What the whole run of the tests has compiled (tools/testing/run-tests.ts). */
const COMPILED = process.env['NODE_COMPILE_CACHE'];
/** Where a clone finds it: as far below it as in this one. */
const BORROWED = ['weft', '.compiled', 'there', 'compiled'];

describe('the first steps', () => {
  const home = mkdtempSync(path.join(tmpdir(), 'weft-first-'));
  const copy = path.join(home, 'weft');
  const state = path.join(home, 'state');
  const env = strangersEnvironment(home);

  /** Types a line; fails with everything that was said unless the exit code is the expected. */
  const type = (line: string, code = 0): string => {
    const options = { cwd: copy, env, encoding: 'utf8', timeout: STEP_MAX_MS } as const;
    const { status, stdout, stderr } = spawnSync('sh', ['-c', line], options);
    assert.equal(status, code, `${line}\n${stdout}${stderr}`);
    return stdout;
  };

  before(() => {
    for (const file of filesOfClone()) cpSync(path.join(ROOT, file), path.join(copy, file));
    borrowPackages(home);
    borrowCompiled(home);
  });
  const remove = (): void => {
    if (existsSync(path.join(copy, 'node_modules'))) type('npm run clean -- --yes');
    rmSync(home, { recursive: true, force: true });
  };
  const forget = whenKilled(remove);
  after(() => {
    forget();
    remove();
  });

  it('every line of the front page works as it stands, in its order', () => {
    const lines = [...frontPage().matchAll(/^npx weft .+$/gm)].map(([line]) => line);
    assert.ok(lines.length >= 8, lines.join('\n'));
    type('npm ci');
    const said = lines.map((line) => type(line));
    assert.match(said[0] ?? '', /The cluster is running\./);
    assert.match(said[1] ?? '', /^hello from n1\n$/);
    assert.equal(said[2], '2\n');
    assert.match(said[5] ?? '', /^point 0\n$/);
    assert.match(said.at(-1) ?? '', /The cluster is stopped\./);
  });

  it('`weft` can be linked, and used in a folder of one’s own, as the front page says', () => {
    const [block = ''] = /^npm install --global[\s\S]*?(?=^```)/m.exec(frontPage()) ?? [];
    const own = path.join(home, 'own');
    const said = type(`HOME='${mkdirp(own)}'; export HOME; ${block.replaceAll(/ +#.*$/gm, '')}`);
    assert.match(said, new RegExp(`^${own}/project$`, 'm'));
    type('npx weft down --clean --yes --now');
  });

  let suggested: string[] = [];

  it('`npm start` in a fresh clone starts a cluster and runs a first job', () => {
    const said = type('npm start');
    assert.match(said, /The cluster is running\./);
    assert.match(said, /^hello from n\d$/m);
    assert.match(said, /^n4 +idle /m);
    const cpus = 4 * Math.max(1, Math.floor(availableParallelism() / 4));
    assert.match(said, new RegExp(`of ${cpus} cpus,`), 'what this machine has, divided');
    suggested = [...said.matchAll(/^ {2}(npx weft .+)$/gm)].map(([, line]) => line as string);
    assert.equal(suggested.length, 3, said);
    assert.match(said, /^A first job: npx weft run /m);
    assert.match(said, /^ {2}npm install --global --prefix ~\/\.local \. && export PATH=/m);
  });

  it('`npm start` once more says that it runs, and starts no second job', () => {
    const said = type('npm start');
    assert.match(said, /The cluster is already running\./);
    assert.doesNotMatch(said, /A first job|^hello from/m);
    assert.match(type('npx weft jobs --all -o name'), /^1\n$/);
  });

  it('the three commands that `npm start` suggests work as they stand', () => {
    const [hello = '', array = '', info = ''] = suggested.map((line) => type(line));
    assert.match(hello, /^hello from n\d\n$/);
    assert.match(array, /^\d+\n$/);
    assert.match(info, /^ +\d+ +sleep /m);
  });

  it('a job finds the Node that its user has', () => {
    const question = 'command -v node; node --version';
    assert.equal(type(`npx weft run --follow '${question}'`), type(question));
  });

  it('a job has the variables of its user, and none that npm has set for `npx weft`', () => {
    const ask = "echo $PATH; env | sed -n 's/=.*//p' | sort";
    const [folders, ...names] = type(`npx weft run --follow "${ask.replaceAll('$', '\\$')}"`).split(
      '\n',
    );
    const [own, ...ownNames] = type(ask).split('\n');
    assert.equal(folders, own);
    const added = names.filter((name) => !ownNames.includes(name));
    assert.deepEqual(
      added.filter((name) => /^(npm_|INIT_CWD|NODE|COLOR)/.test(name)),
      [],
    );
  });

  it('`npm stop` stops everything and keeps queue and history', () => {
    const kept = type('npx weft run sleep 600').trim();
    assert.match(type('npm stop'), /The cluster is stopped\./);
    assert.deepEqual(processesOf(home), []);
    type('npx weft info', 7);
    assert.doesNotMatch(type('npm start'), /A first job/);
    assert.match(type('npx weft history 2'), /completed/);
    assert.match(type('npx weft jobs -o name'), new RegExp(`^${kept}$`, 'm'));
  });

  it('`npm run clean` leaves no process and no state', () => {
    type('npm run clean', 2);
    assert.equal(
      existsSync(path.join(state, 'weft')),
      true,
      'a loss is not for a script to decide',
    );
    type('npm run clean -- --yes');
    assert.deepEqual(processesOf(home), []);
    assert.equal(existsSync(path.join(state, 'weft')), false);
  });
});

/** The environment of somebody who has Node and nothing of ours; all that is kept is kept here. */
function strangersEnvironment(home: string): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(npm_|WEFT_|CM_)/i.test(name));
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  return {
    ...Object.fromEntries(own),
    PATH: folders.filter((folder) => !folder.includes('node_modules')).join(path.delimiter),
    XDG_STATE_HOME: path.join(home, 'state'),
    XDG_CACHE_HOME: path.join(home, 'cache'),
    XDG_RUNTIME_DIR: mkdirp(path.join(home, 'run')),
    npm_config_cache: path.join(home, 'npm'),
    NODE_COMPILE_CACHE: COMPILED && path.join(home, ...BORROWED),
  };
}

/** Node.js finds what it has compiled by the way from there to the sources, which is as long. */
function borrowCompiled(home: string): void {
  if (COMPILED === undefined) return;
  const link = path.join(home, ...BORROWED);
  mkdirp(path.dirname(link));
  symlinkSync(COMPILED, link);
}

/** What was downloaded once is used again; links that npx makes to the copy go with the copy. */
function borrowPackages(home: string): void {
  const cache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim();
  const packages = path.join(cache, '_cacache');
  mkdirp(path.join(home, 'npm'));
  if (existsSync(packages)) symlinkSync(packages, path.join(home, 'npm', '_cacache'));
}

function mkdirp(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** Tracked files and those that will be: as they are now, without what is ignored. */
function filesOfClone(): string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const listed = execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\0');
  return listed.filter((file) => file !== '' && existsSync(path.join(ROOT, file)));
}

function frontPage(): string {
  return readFileSync(path.join(ROOT, 'README.md'), 'utf8');
}

/** Command lines of live processes that name this directory. */
function processesOf(directory: string): string[] {
  const lines = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => commandLine(pid));
  return lines.filter((line) => line.includes(directory));
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return ''; // Ended meanwhile.
  }
}
