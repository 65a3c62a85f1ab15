// Files that go with a job and come back with weft pull, by the programs alone: real head, node,
// client.

import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { LocalCluster } from './support/local-cluster.ts';

describe('files of jobs on a local cluster', () => {
  let cluster: LocalCluster;
  before(async () => {
    cluster = await LocalCluster.start('--nodes', '2', '--listen', 'none');
  });
  after(() => cluster.close());

  const at = (name: string): string => join(cluster.work, name);
  const read = (name: string): string => readFileSync(at(name), 'utf8');
  const make = (name: string, text: string): void => {
    mkdirSync(join(at(name), '..'), { recursive: true });
    writeFileSync(at(name), text);
  };

  it('what is named with --in is there under its name, and what --out wants comes back', async () => {
    make('data.csv', '1,2\n');
    make('mesh/sub/m', 'm');
    mkdirSync(at('mesh/empty'));
    symlinkSync('sub/m', at('mesh/link'));
    make(
      'solver',
      '#!/bin/sh\n: > all; find . | sort > all\nmkdir result; cat in.csv mesh/link > result/r\ntouch result/x.tmp\n',
    );
    chmodSync(at('solver'), 0o755);
    const input = ['--in', 'data.csv=in.csv', '--in', 'mesh'];
    await cluster.ok(
      'run',
      '--wait',
      ...input,
      '--out',
      'result/**',
      '--out',
      'all',
      '--out',
      '!*.tmp',
      './solver',
    );
    const [id] = await lastJob();
    await cluster.ok('pull', id);
    const inside = [
      '.',
      './all',
      './in.csv',
      './mesh',
      './mesh/empty',
      './mesh/link',
      './mesh/sub',
    ];
    assert.deepEqual(read(`${id}/all`).trim().split('\n'), [...inside, './mesh/sub/m', './solver']);
    assert.equal(read(`${id}/result/r`), '1,2\nm');
    assert.deepEqual(readdirSync(at(`${id}/result`)), ['r']);
    const shown = await cluster.ok('job', id);
    assert.match(shown, /^Input: +3 files with \d+ bytes: in\.csv, mesh\/, solver$/m);
    assert.match(shown, /^Kept: +2 files, \d+ bytes; weft pull \d+$/m);
  });

  it('a private job keeps what it wrote, also when it failed; none keeps nothing', async () => {
    await cluster.weft(
      'run',
      '--wait',
      '--private',
      '--',
      'mkdir -m 700 d; echo kept > d/f; chmod 600 d/f; exit 3',
    );
    const [id] = await lastJob();
    const said = await cluster.ok('pull', id);
    assert.match(said, /Fetched 1 file/);
    assert.equal(read(`${id}/d/f`), 'kept\n');
    assert.equal(statSync(at(`${id}/d/f`)).mode & 0o777, 0o600);
    await cluster.ok('run', '--wait', '--private', '--out', 'none', '--', 'echo x > y');
    const [none] = await lastJob();
    assert.match((await cluster.weft('pull', none)).error, /No files of job \d+ are kept/);
    assert.ok(!existsSync(at(none)));
  });

  it('each task of an array has its folder, and pulling again brings only what is new', async () => {
    make('case', 'c');
    const line = 'echo $WEFT_ARRAY_INDEX > out; test $WEFT_ARRAY_INDEX != 1 || mv case big';
    const id = await cluster.ok('run', '--array', '0-2', '--in', 'case', '--', line);
    await cluster.ok('wait', id);
    assert.match(await cluster.ok('pull', `${id}[1]`), /Fetched 2 files/);
    assert.deepEqual(readdirSync(at(`${id}/1`)).sort(), ['big', 'out']);
    assert.match(
      await cluster.ok('pull', id),
      /Fetched \d files .* into 3 folders.*; 2 were there already/,
    );
    assert.deepEqual(
      [0, 1, 2].map((index) => read(`${id}/${index}/out`)),
      ['0\n', '1\n', '2\n'],
    );
    assert.match(await cluster.ok('pull', id), /all as the job left them/);
  });

  it('[J32] a mended program runs its failed points again, and pull brings what ran last', async () => {
    const program = (line: string): void => {
      make('sim', `#!/bin/sh\n${line}\necho $1 > out\n`);
      chmodSync(at('sim'), 0o755);
    };
    program('test $1 != 2 || exit 1');
    const id = await cluster.ok('run', '--sweep', 'a=1,2,3', '--in', 'sim', './sim', '{a}');
    await cluster.weft('wait', id);
    const old = await cluster.weft('retry', id);
    assert.equal(old.code, 0);
    assert.doesNotMatch(old.error, /differs/);
    await cluster.weft('wait', old.out.trim());
    program('# mended');
    const silent = await cluster.weft('retry', id);
    assert.match(
      silent.error,
      /sim here differs from the copy sent with job \d+; that copy goes again/,
    );
    assert.match(
      silent.error,
      /`weft retry \d+ --with-new-files` takes the files as they are here/,
    );
    assert.equal((await cluster.weft('wait', silent.out.trim())).code, 1);
    const again = await cluster.ok('retry', id, '--with-new-files');
    await cluster.ok('wait', again);
    assert.deepEqual((await cluster.job(again)).taskCounts, { done: 1 });
    await cluster.ok('pull', id);
    assert.deepEqual(readdirSync(at(id)).sort(), ['0', '1', '2']);
    assert.equal(read(`${id}/1/out`), '2\n');
    program('echo third > other');
    const third = await cluster.ok('retry', id, '--in', 'sim');
    await cluster.ok('wait', third);
    await cluster.ok('pull', id);
    assert.equal(read(`${id}/1/other`), 'third\n');
    assert.equal(existsSync(at(`${id}/0/other`)), false);
  });

  it('a script says its files itself, and standard input may be one of them', async () => {
    make('numbers', '1\n2\n3\n');
    make('sum.sh', '#!/bin/sh\n#WEFT --in numbers --out total --stdin numbers\nwc -l > total\n');
    await cluster.ok('submit', '--wait', 'sum.sh');
    const [id] = await lastJob();
    await cluster.ok('pull', id, '--save-dir', 'results');
    assert.equal(read(`results/${id}/total`).trim(), '3');
  });

  async function lastJob(): Promise<[string]> {
    const [job] = JSON.parse(await cluster.ok('jobs', '--all', '-o', 'json')) as { id: number }[];
    return [String(job?.id)];
  }
});
