// The starters in bin/ and tools/bootstrap.mjs, tried on a made-up repository of a few files.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
    'src/bin/weft.ts': `const kind: string = 'source';\nconsole.log(kind);\n${program}`,
    'dist/bin/weft.js': "console.log('built');\n",
  });
  const { output, code } = await runIn(folder, 'bin/weft.mjs', 'run', '--wait');
  assert.deepEqual([output, code], ['source\nrun,--wait\n', 7]);
});

test('a starter in a package, where there are no sources, takes dist', async (t) => {
  const folder = makeRepository(t, { 'dist/bin/weft.js': "console.log('built');\n" });
  const { output, code } = await runIn(folder, 'bin/weft.mjs');
  assert.deepEqual([output, code], ['built\n', 0]);
});

/** A repository whose dependencies look installed by hand, after the lockfile was written. */
function makeInstalled(t: TestContext, script: string): string {
  const folder = makeRepository(t, { 'package-lock.json': '{}', 'tools/job.ts': script });
  const bootstrap = path.join('tools', 'bootstrap.mjs');
  cpSync(path.join(ROOT, bootstrap), path.join(folder, bootstrap));
  mkdirSync(path.join(folder, 'node_modules'));
  writeFileSync(path.join(folder, 'node_modules', '.package-lock.json'), '{}');
  return folder;
}

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
