// The programs of docs/library.md, each run as a reader would run it: on a cluster of this machine,
// in a folder of its own, by the name of the package. What they print is what the page says.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { LocalCluster, repository, runProgram } from './support/local-cluster.ts';

const PAGE = readFileSync(path.join(repository, 'docs', 'library.md'), 'utf8');
const BLOCK = /(<!-- not run: [^\n]* -->\n)?^```ts\n([\s\S]*?)^```$/gm;
/** What a line of the page says that the program prints. */
const SAID = /^\/\/ → (.*)$/gm;
/** A program that hangs is ended. */
const PROGRAM_MS_MAX = 240_000;

const programs = [...PAGE.matchAll(BLOCK)].flatMap(({ 1: notRun, 2: text = '', index }) => {
  const line = PAGE.slice(0, index).split('\n').length;
  const said = [...text.matchAll(SAID)].map(([, words]) => words ?? '');
  return notRun === undefined ? [{ line, text, said }] : [];
});

describe('the programs of docs/library.md', () => {
  let cluster: LocalCluster;
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-library-page-'));
  before(async () => {
    cluster = await LocalCluster.start('--nodes', '2');
  });
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
    await cluster?.close();
  });

  test('there are some, and each prints something', () => {
    assert.ok(programs.length >= 6);
    assert.deepEqual(
      programs.filter(({ said }) => said.length === 0),
      [],
    );
  });

  for (const { line, text, said } of programs) {
    test(`line ${line} prints what it says`, async () => {
      const cwd = path.join(folder, String(line));
      mkdirSync(cwd);
      const library = pathToFileURL(path.join(repository, 'src', 'library.ts')).href;
      const file = path.join(cwd, 'program.mts');
      writeFileSync(file, text.replace("from 'weft'", `from '${library}'`));
      const ran = await runProgram([process.execPath, file], {
        cwd,
        env: cluster.env,
        timeoutMs: PROGRAM_MS_MAX,
      });
      assert.equal(ran.code, 0, ran.error);
      assert.deepEqual(ran.out.split('\n').slice(0, -1), said);
    });
  }
});
