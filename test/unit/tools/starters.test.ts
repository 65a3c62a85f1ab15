// The starters in bin/ and tools/bootstrap.mjs, tried on a made-up repository of a few files.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { ROOT } from '../../../tools/tree.ts';

/** A folder with the starters and the given files, removed after the test. */
function makeRepository(t: TestContext, files: Record<string, string>): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-starters-'));
  t.after(() => rmSync(folder, { recursive: true }));
  cpSync(path.join(ROOT, 'bin'), path.join(folder, 'bin'), { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), content);
  }
  return folder;
}

async function runIn(folder: string, ...args: string[]) {
  const env = { ...process.env, XDG_CACHE_HOME: path.join(folder, 'cache') };
  const child = spawn(process.execPath, args, { cwd: folder, env });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return { output, errors, code: child.exitCode, signal: child.signalCode };
}

test('a starter prefers the sources, passes arguments and the exit code', async (t) => {
  const program = 'console.log(String(process.argv.slice(2)));\nprocess.exitCode = 7;\n';
  const folder = makeRepository(t, {
    'src/bin/programs.ts': "export const PROGRAMS = { weft: () => import('./weft.ts') };\n",
    'src/bin/weft.ts': `const kind: string = 'source';\nconsole.log(kind);\n${program}`,
    'dist/bin/quick.json': '[]',
  });
  const { output, code } = await runIn(folder, 'bin/weft.mjs', 'run', '--wait');
  assert.deepEqual([output, code], ['source\nrun,--wait\n', 7]);
});

test('a starter in a package, where there are no sources, takes dist', async (t) => {
  const folder = makeRepository(t, {
    'dist/bin/quick.json': '["jobs"]',
    'dist/bin/quick.cjs': "exports.weft = () => console.log('quick');",
    'dist/bin/programs.cjs': `
      exports.PROGRAMS = { weft: () => console.log('weft'), cminfo: () => console.log('cminfo') };`,
  });
  const outputs = [];
  for (const words of [['weft', 'jobs'], ['weft', 'up'], ['weft'], ['cminfo', 'jobs']]) {
    const [program, ...args] = words;
    const { output, code } = await runIn(folder, `bin/${program}.mjs`, ...args);
    outputs.push(output.trim(), code);
  }
  assert.deepEqual(outputs, ['quick', 0, 'weft', 0, 'weft', 0, 'cminfo', 0]);
});

/** A program from the build: a mark at its beginning, then what it does. */
const program = (mark: string, body: string): string => `/* ${mark.repeat(16)} */ ${body}`;

test('functions of a program are kept between runs, and those of another one never run', async (t) => {
  const own = 'dist/bin/squeue.cjs';
  const kept = `const say = (word) => console.log(word + ' ' + process.argv.slice(2));
    exports.PROGRAMS = { squeue: () => { say('kept'); require('./lines.cjs').line(); } };`;
  const folder = makeRepository(t, {
    [own]: program('a', kept),
    'dist/bin/lines.cjs': program('c', "exports.line = () => console.log('line');"),
  });
  const squeue = async () => {
    const { output, errors } = await runIn(
      folder,
      'bin/slurm-front.cjs',
      'squeue',
      '-h',
      '--',
      '-x',
    );
    return output + errors;
  };
  const functions = path.join(folder, 'cache', 'weft', 'functions');
  const files = () => readdirSync(functions).sort();
  assert.equal(await squeue(), 'kept -h,--,-x\nline\n');
  const [lines = '', first = '', ...more] = files();
  assert.deepEqual([/^lines-squeue-c{16}-v/.test(lines), more], [true, []]);
  assert.match(first, /^squeue-squeue-a{16}-v/);
  const runs = () => readFileSync(path.join(functions, first)).at(-1);
  assert.equal(runs(), 1);
  for (const many of [2, 3, 4, 4]) {
    assert.equal(await squeue(), 'kept -h,--,-x\nline\n');
    assert.equal(runs(), many, 'what later runs use is added, and after some no more');
  }
  writeFileSync(path.join(functions, first), 'torn');
  assert.equal(await squeue(), 'kept -h,--,-x\nline\n');
  assert.equal(runs(), 1, 'what cannot be used is made anew');
  for (const mark of ['b', 'd', 'e']) {
    writeFileSync(path.join(folder, own), program(mark, kept.replace('kept', mark)));
    assert.equal(await squeue(), `${mark} -h,--,-x\nline\n`);
  }
  assert.deepEqual(
    files().filter((name) => name.startsWith('squeue')).length,
    3,
    'those of earlier releases go',
  );
});

test('of words that are no quick command nothing is kept, and old files go', async (t) => {
  const quick = "exports.weft = () => console.log('quick');";
  const folder = makeRepository(t, {
    'dist/bin/quick.json': '["jobs"]',
    'dist/bin/quick.cjs': program('a', quick),
    'dist/bin/programs.cjs': "exports.PROGRAMS = { weft: () => console.log('weft') };",
  });
  const functions = path.join(folder, 'cache', 'weft', 'functions');
  const old = path.join(functions, 'quick-top-old');
  mkdirSync(functions, { recursive: true });
  writeFileSync(old, '');
  utimesSync(old, 1, 1);
  for (const word of ['jbos', 'up', 'jobs']) await runIn(folder, 'bin/weft.mjs', word);
  assert.deepEqual(
    readdirSync(functions).map((name) => name.replace(/-a.*/, '')),
    ['quick-jobs'],
  );
});

test('a program runs where nothing can be kept', async (t) => {
  const body = "exports.PROGRAMS = { squeue: () => console.log('runs') };";
  const folder = makeRepository(t, { 'dist/bin/squeue.cjs': program('a', body), cache: '' });
  const { output, errors, code } = await runIn(folder, 'bin/slurm-front.cjs', 'squeue');
  assert.deepEqual([output, errors, code], ['runs\n', '', 0]);
});

const LOCKED = { '': {}, a: { integrity: 'sha512-1' }, b: { integrity: 'x', optional: true } };

/** A repository whose dependencies were installed by hand. */
function makeInstalled(t: TestContext, script: string, installed: object = LOCKED): string {
  const lock = JSON.stringify({ packages: LOCKED });
  const folder = makeRepository(t, { 'package-lock.json': lock, 'tools/job.ts': script });
  const bootstrap = path.join('tools', 'bootstrap.mjs');
  cpSync(path.join(ROOT, bootstrap), path.join(folder, bootstrap));
  mkdirSync(path.join(folder, 'node_modules'));
  const record = path.join(folder, 'node_modules', '.package-lock.json');
  writeFileSync(record, JSON.stringify({ packages: installed }));
  return folder;
}

/**
 * The node_modules of a checkout become a link; resolves with what they hold after the script has
 * run.
 */
async function runLinked(t: TestContext, installed: object) {
  const folder = makeInstalled(t, 'process.exitCode = 5;\n', installed);
  const elsewhere = path.join(folder, 'elsewhere');
  renameSync(path.join(folder, 'node_modules'), elsewhere);
  symlinkSync('elsewhere', path.join(folder, 'node_modules'));
  const { code, errors } = await runIn(folder, 'tools/bootstrap.mjs', 'tools/job.ts');
  return { code, errors, files: readdirSync(elsewhere) };
}

test('bootstrap takes linked dependencies that are as locked, and leaves them as they are', async (t) => {
  const { code, errors, files } = await runLinked(t, { a: LOCKED.a });
  assert.deepEqual([code, errors, files], [5, '', ['.package-lock.json']]);
});

test('bootstrap refuses linked dependencies that are not as locked, and leaves them', async (t) => {
  const { code, errors, files } = await runLinked(t, { a: { integrity: 'sha512-2' } });
  assert.deepEqual([code, files], [125, ['.package-lock.json']]);
  assert.match(errors, /^node_modules is a link to elsewhere, .* Run `npm ci` there, or remove/);
});

test('bootstrap runs a TypeScript script and ends as it ended', async (t) => {
  const folder = makeInstalled(t, 'const code: number = 5;\nprocess.exitCode = code;\n');
  const { code } = await runIn(folder, 'tools/bootstrap.mjs', 'tools/job.ts');
  assert.equal(code, 5);
});

test('bootstrap dies of the signal that ended the script', async (t) => {
  const folder = makeInstalled(t, "process.kill(process.pid, 'SIGKILL');\n");
  const { signal } = await runIn(folder, 'tools/bootstrap.mjs', 'tools/job.ts');
  assert.equal(signal, 'SIGKILL');
});

test('bootstrap passes a signal on to the script', async (t) => {
  const script =
    "process.on('SIGTERM', () => process.exit(9));\n" +
    "setInterval(() => {}, 1000);\nconsole.log('ready');\n";
  const folder = makeInstalled(t, script);
  const args = ['tools/bootstrap.mjs', 'tools/job.ts'];
  const child = spawn(process.execPath, args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  assert.equal(code, 9);
});

test('bootstrap says what does not exist', async (t) => {
  const folder = makeInstalled(t, '');
  const { errors, code } = await runIn(folder, 'tools/bootstrap.mjs', 'tools/none.ts');
  assert.deepEqual([errors, code], ['tools/none.ts does not exist.\n', 125]);
});
