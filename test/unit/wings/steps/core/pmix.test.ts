// Ranks of Open MPI as one step: what its mpirun is told, and who has written what.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import {
  BLANK_MARK,
  byRank,
  pmixArgv,
  TaggedOutput,
  type Written,
} from '../../../../../src/wings/steps/core/pmix.ts';

/** Programs in a folder: each says with what it was started, or which release it is. */
function folderOf(t: { after(end: () => void): void }, versions: Record<string, string>): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-pmix-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, version] of Object.entries(versions)) {
    const file = path.join(folder, name);
    const say = `[ "$1" = --version ] && { echo '${version}'; exit 0; }`;
    writeFileSync(file, `#!/bin/sh\n${say}\necho "${name} $*" | head -n 1\n`);
    chmodSync(file, 0o755);
  }
  return folder;
}

function runIn(folder: string, argv: readonly string[]) {
  const [program = '', ...args] = argv;
  const env = { PATH: `${folder}:/usr/bin:/bin` };
  return spawnSync(program, args, { env, encoding: 'utf8' });
}

const WISH = { nodes: ['n1', 'n1', 'n2'], here: 'n1', argv: ['./a.out', 'x y'], isTagged: false };

test('[Z14] the mpirun of Open MPI is taken, wherever MPICH has the shorter name', (t) => {
  const mpich = { mpirun: 'HYDRA build details:' };
  const four = folderOf(t, { ...mpich, 'mpirun.openmpi': 'mpirun.openmpi (OpenRTE) 4.1.4' });
  const said = runIn(four, pmixArgv(WISH)).stdout;
  assert.match(said, /^mpirun\.openmpi (--allow-run-as-root )?--host n1:2,n2:1 -n 3 --map-by slot/);
  const five = folderOf(t, { mpirun: 'mpirun (Open MPI) 5.0.3' });
  const tagged = runIn(five, pmixArgv({ ...WISH, isTagged: true }));
  assert.ok(tagged.stdout.startsWith(`${BLANK_MARK}mpirun --output tag `), tagged.stdout);
  assert.equal(tagged.stderr, BLANK_MARK);
  assert.doesNotMatch(runIn(five, pmixArgv(WISH)).stdout, /blank/);
  const old = runIn(four, pmixArgv({ ...WISH, isTagged: true }));
  assert.match(old.stdout, /^mpirun\.openmpi --tag-output .*--host/);
  assert.equal(old.stderr, '');
});

test('[Z14] without one on the node a step says so', (t) => {
  const folder = folderOf(t, {
    mpirun: 'HYDRA build details:',
    'mpirun.openmpi': 'no such thing',
    orterun: 'Intel(R) MPI Library',
    prterun: 'unknown',
  });
  const { status, stderr, stdout } = runIn(folder, pmixArgv(WISH));
  assert.equal(status, 127);
  assert.equal(stdout, '');
  assert.match(stderr, /^no mpirun of Open MPI is in the PATH/);
});

test('[Z14] values of variables are in no command line, their names are', (t) => {
  const four = folderOf(t, { mpirun: 'mpirun (OpenRTE) 4.1.4' });
  const wish = { ...WISH, handed: ['KEY', 'A'], taken: ['B'] };
  const said = runIn(four, pmixArgv(wish)).stdout;
  assert.match(said, /--map-by slot -x KEY -x A env -u B \/bin\/sh -c/);
});

test('a node alone is asked by no name that its machine may not know', () => {
  const hosts = (nodes: string[], here: string) => {
    const argv = pmixArgv({ ...WISH, nodes, here });
    return argv[argv.indexOf('--host') + 1];
  };
  assert.equal(hosts(['n1', 'n1'], 'n1'), 'localhost:2');
  assert.equal(hosts(['n2', 'n2'], 'n1'), 'n2:2');
  assert.equal(hosts(['n2', 'n3', 'n3'], 'n2'), 'n2:1,n3:2');
});

test('each rank runs the line that is its own', () => {
  const run = (line: string, rank: number) =>
    execFileSync('sh', ['-c', line], {
      env: { OMPI_COMM_WORLD_RANK: String(rank) },
      encoding: 'utf8',
    });
  assert.equal(byRank(['echo a;', 'echo a;']), 'echo a;');
  const line = byRank(['echo a;', 'echo b;']);
  assert.deepEqual([run(line, 0), run(line, 1)], ['a\n', 'b\n']);
});

function textsOf(written: readonly Written[]): string[] {
  const texts = new Map<string, string>();
  for (const { rank, text } of written)
    texts.set(String(rank), (texts.get(String(rank)) ?? '') + text);
  return [...texts]
    .map(([rank, text]) => `${rank}: ${Buffer.from(text, 'latin1').toString()}`)
    .sort();
}

/** The words of Open MPI 4. */
const SAID =
  '[1,2]<stdout>:a[1,0]<stdout>:0[5]\n[1,2]<stdout>:ä\nmpirun says\n' +
  '[1,10]<stderr>: x[y\n[1,0]<stdout>:[1,no]\n[1,0]<stdout>:last[';
/** PMIx ends a tag with a blank (`pmix_iof.c`). */
const SAID_BY_5 = BLANK_MARK + SAID.replace(/\[(1,\d+\]<std...>:)/g, '[prterun-n1-7@$1 ');

for (const [release, said] of [
  [4, SAID],
  [5, SAID_BY_5],
] as const)
  test(`what mpirun of Open MPI ${release} writes is told apart, in whichever pieces it comes`, () => {
    const bytes = Buffer.from(said);
    const wanted = ['0: 0[5]\n[1,no]\nlast[', '10:  x[y\n', '2: aä\n', 'null: mpirun says\n'];
    for (const size of [1, 2, 3, 7, bytes.length]) {
      const output = new TaggedOutput();
      const written: Written[] = [];
      for (let at = 0; at < bytes.length; at += size)
        written.push(
          ...output.write(bytes.toString('latin1', at, Math.min(bytes.length, at + size))),
        );
      written.push(...output.end());
      assert.deepEqual(textsOf(written), wanted, `pieces of ${size}`);
    }
  });

test('half a line of a rank is shown before its end comes', () => {
  const output = new TaggedOutput();
  assert.deepEqual(textsOf(output.write('[1,0]<stdout>:password? ')), ['0: password? ']);
});

test('words of mpirun alone are shown, also where they begin as the mark of a release does', () => {
  const output = new TaggedOutput();
  const written = [...output.write('weft'), ...output.write(' '), ...output.end()];
  assert.deepEqual(textsOf(written), ['null: weft ']);
  assert.deepEqual(textsOf(new TaggedOutput().write('who?')), ['null: who?']);
});
