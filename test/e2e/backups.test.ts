// Backups of a head that works, the loss of its folder, and going on from a backup: by the programs
// alone, with real nodes whose jobs run meanwhile.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { StandIn } from '../support/bucket-stand-in.ts';
import { until } from './support/hosts.ts';
import { LocalCluster, repository } from './support/local-cluster.ts';

const UP = ['--nodes', '2', '--listen', 'none'];
const NAME = /^weft-\d{8}T\d{6}\.\d{3}Z$/;

interface Listed {
  readonly name: string;
  readonly folder: string;
  readonly lastJobId: number;
  readonly unfinishedJobs: number;
}

describe('backups of a head', () => {
  let cluster: LocalCluster;
  let folder: string;
  before(async () => {
    cluster = new LocalCluster({ WEFT_UP_KEEP: 'false' });
    folder = join(cluster.directory, 'backups');
    await cluster.up(...UP);
  });
  after(() => cluster.close());

  const listed = async (): Promise<Listed[]> =>
    JSON.parse(await cluster.ok('backup', '--to', folder, '--list', '-o', 'json'));
  const newest = async (): Promise<Listed> => {
    const last = (await listed()).at(-1);
    assert.ok(last !== undefined, 'there is a backup');
    return last;
  };
  const endHead = () => cluster.kill('head');

  it('[U1] is made while jobs are submitted and end, and is whole', async () => {
    const submitting = cluster.ok('run', '--array', '1-300', '--', 'echo line $WEFT_ARRAY_INDEX');
    const said = await cluster.ok('backup', '--to', folder);
    assert.match(said, /^Backup .*\/weft-\S+: \d+ files and folders, /);
    const id = await submitting;
    await cluster.ok('wait', id);
    const { folder: made } = await newest();
    assert.match(await cluster.ok('restore', '--check', made), /, is whole: /);
  });

  it('[U2] a head that is killed in the middle leaves no whole backup, and the next one is', async () => {
    let before: string[] = [];
    // Enough that a backup of it takes longer than a kill.
    const spare = join(cluster.state, 'head', 'archive', 'aside');
    mkdirSync(spare, { recursive: true });
    for (let index = 0; index < 3; index++) {
      writeFileSync(join(spare, `spare${index}`), Buffer.alloc(200 * 1_048_576, index));
    }
    const isHalf = (): boolean => readdirSync(folder).some((name) => name.startsWith('.half-'));
    // On a busy machine one may be whole before anybody has seen that it is being made.
    const isCutOff = async (): Promise<boolean> => {
      before = (await listed()).map(({ name }) => name);
      const making = cluster.weft('backup', '--to', folder);
      let isOver = false;
      void making.finally(() => {
        isOver = true;
      });
      await until('a backup is being made', () => isHalf() || isOver || undefined);
      await endHead();
      if ((await making).code !== 0) return true;
      await cluster.up(...UP);
      return false;
    };
    for (let tries = 0; !(await isCutOff()); tries++) assert.ok(tries < 10, 'none was cut off');
    for (let index = 0; index < 3; index++) rmSync(join(spare, `spare${index}`));
    await cluster.up(...UP);
    assert.deepEqual(
      (await listed()).map(({ name }) => name),
      before,
    );
    await cluster.ok('backup', '--to', folder);
    const names = readdirSync(folder);
    assert.ok(
      names.every((name) => NAME.test(name)),
      names.join(' '),
    );
    assert.equal(names.length, before.length + 1);
  });

  it('[U4] a lost folder is put back: what ran goes on, what had ended is there, no id is given twice', async () => {
    await cluster.ok('run', '--wait', '--', 'echo kept');
    const before = await cluster.jobCount();
    const script = 'echo $$ >> once; until [ -e go ]; do sleep 0.05; done; echo $$ >> ended';
    const running = await cluster.ok('run', '--on-node-loss', 'wait', '--', script);
    await until('it runs', () => (cluster.lines('once').length === 1 ? true : undefined));
    await cluster.ok('backup', '--to', folder);
    const { folder: made, lastJobId, unfinishedJobs } = await newest();
    assert.deepEqual([lastJobId, unfinishedJobs], [Number(running), 1]);
    const lost = await cluster.ok('run', '--', 'echo lost');
    await cluster.ok('wait', lost);
    await endHead();
    rmSync(join(cluster.state, 'head'), { recursive: true });

    assert.match(await cluster.ok('restore', made), /1 of them not ended; what was accepted later/);
    const refused = await cluster.weft('up', ...UP);
    assert.notEqual(refused.code, 0);
    assert.match(refused.error, /is a backup of .*--accept-loss/);
    await cluster.up(...UP, '--accept-loss');
    writeFileSync(join(cluster.work, 'go'), '');
    assert.equal(await cluster.ok('wait', running), `${running} completed`);
    assert.equal(cluster.lines('once').length, 1);
    assert.equal(cluster.lines('ended').length, 1);
    assert.equal(await cluster.ok('logs', String(before)), 'kept');
    const next = Number(await cluster.ok('run', '--', 'true'));
    assert.ok(next > Number(lost) + 1000, `${next} is far beyond ${lost}`);
    assert.match(await cluster.ok('doctor'), /what came after record \d+/);
  });

  it('[U3] a damaged backup is named, and not put back', async () => {
    const { folder: made } = await newest();
    appendFileSync(join(made, 'head', 'audit.log'), 'x');
    const checked = await cluster.refused('weft', 'restore', '--check', made);
    assert.match(checked.error, /audit\.log differs from what was written/);
    const elsewhere = join(cluster.directory, 'elsewhere');
    await cluster.refused('weft', 'restore', made, '--dir', elsewhere);
    assert.equal(readdirSync(elsewhere).length, 0);
  });

  it('says what is wrong with a folder, and what to do', async () => {
    const own = await cluster.refused(
      'weft',
      'backup',
      '--to',
      join(cluster.state, 'head', 'logs'),
    );
    assert.match(own.error, /inside the head's own folder/);
    const missing = await cluster.refused('weft', 'backup', '--to', join(folder, 'no', 'such'));
    // backup.failed
    assert.match(missing.error, /^weft: No backup was made in .*: no such file or directory/);
    assert.match((await cluster.refused('weft', 'backup')).error, /--to FOLDER, or set backup\.to/);
    assert.match(
      (await cluster.refused('weft', 'restore', folder)).error,
      /name one of them: weft-/,
    );
    assert.match(
      (await cluster.refused('weft', 'restore', '/nowhere')).error,
      /no folder \/nowhere/,
    );
    assert.match((await cluster.refused('weft', 'restore', '/etc')).error, /is no backup/);
  });
});

describe('backups by the configuration', () => {
  it('[U5] are made by themselves, and the newest stay', async (t) => {
    const cluster = new LocalCluster({ WEFT_BACKUP_KEEP: '2' });
    t.after(() => cluster.close());
    const folder = join(cluster.directory, 'backups');
    const file = join(cluster.directory, 'weft.yaml');
    writeFileSync(file, `backup:\n  to: ${folder}\n`);
    await cluster.up(...UP, '--config', file);
    const isMade = async () => /ok +backups .*the last was made/.test(await cluster.ok('doctor'));
    await until('the first is made', async () => ((await isMade()) ? true : undefined));
    const names = readdirSync(folder);
    assert.equal(names.length, 1);
    const configured = readdirSync(join(folder, names[0] ?? '', 'configuration'));
    assert.deepEqual(configured, ['1-weft.yaml']);
    for (let count = 0; count < 2; count++) await cluster.ok('backup');
    assert.equal(readdirSync(folder).length, 2);
    assert.equal(readdirSync(folder).includes(names[0] ?? ''), false);
  });
});

/** What it has fetched has the head's keys in it. */
async function endsWithNothingLeft(store: StandIn, cluster: LocalCluster, args: string[]) {
  const temporary = join(cluster.directory, 'temporary');
  mkdirSync(temporary);
  const script = join(repository, 'bin', 'weft.mjs');
  const env = { ...cluster.env, TMPDIR: temporary };
  const child = spawn(process.execPath, [script, ...args], { env, stdio: 'ignore' });
  let seen: string[] = [];
  store.before = (request) => {
    if (!request.includes('/pieces/') || seen.length > 0) return;
    seen = readdirSync(temporary).filter((name) => name.startsWith('weft-restore-'));
    // From here on it would wait for the store, for longer than a signal takes.
    for (let count = 0; count < 100; count += 1) store.faults.push(503);
    child.kill('SIGTERM');
  };
  const [code] = await once(child, 'close');
  store.before = () => undefined;
  store.faults.length = 0;
  assert.deepEqual([seen.length, code], [1, 143]);
  const left = readdirSync(temporary).filter((name) => name.startsWith('weft-restore-'));
  assert.deepEqual(left, []);
}

describe('backups in a bucket', () => {
  it('[U8] go there by themselves, and a lost head is put back from there', async (t) => {
    const store = await StandIn.start(t);
    const cluster = new LocalCluster();
    t.after(() => cluster.close());
    const keys = join(cluster.directory, 'keys');
    const { id, secret, region, endpoint } = store.keys;
    const lines = {
      AWS_ACCESS_KEY_ID: id,
      AWS_SECRET_ACCESS_KEY: secret,
      AWS_REGION: region,
      AWS_ENDPOINT_URL: endpoint,
    };
    const text = Object.entries(lines).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(keys, text.join(''), { mode: 0o644 });
    const file = join(cluster.directory, 'weft.yaml');
    writeFileSync(file, `backup: {to: 's3://lab/weft', keys_file: ${keys}, keep: 2}\n`);
    await cluster.up(...UP, '--config', file);
    const doctor = async () => (await cluster.weft('doctor')).out;
    await until('it says that others can read the keys', async () => {
      return /others can read .*chmod 600/.test(await doctor()) || undefined;
    });
    chmodSync(keys, 0o600);
    await cluster.ok('run', '--wait', '--', 'echo kept');
    const said = await cluster.ok('backup');
    const [, place = ''] = /^Backup (s3:\/\/lab\/weft\/[0-9a-f]{16}\/weft-\S+):/m.exec(said) ?? [];
    assert.match(await doctor(), /ok +backups .*s3:\/\/lab\/weft every 1h.*the last was made/);
    const shown = JSON.parse(await cluster.ok('backup', '--list', '-o', 'json')) as Listed[];
    assert.deepEqual(
      shown.map((one) => one.folder),
      [place],
    );
    const none = await cluster.refused('weft', 'restore', '--check', place);
    assert.match(none.error, /no keys for the bucket .*--keys/s);
    const checked = await cluster.ok('restore', '--check', place, '--keys', keys);
    assert.ok(checked.includes(`${place}, the backup of`), checked);
    const full = await cluster.refused('weft', 'restore', place, '--keys', keys);
    assert.match(full.error, /has the state of a head already/);
    await cluster.ok('down', '--now');
    rmSync(cluster.state, { recursive: true });
    store.faults.push(403);
    const barred = await cluster.refused('weft', 'restore', '--check', place, '--keys', keys);
    assert.match(barred.error, /cannot be read: .* 403 .*Look whether the keys/s);
    await endsWithNothingLeft(store, cluster, ['restore', place, '--keys', keys]);
    const restored = await cluster.ok('restore', place, '--keys', keys);
    const [, configuration = ''] = /a copy is in (\S+)\.$/m.exec(restored) ?? [];
    assert.match(restored, /^ {2}cp -p \S+\/1-\S+\.yaml \/\S+\.yaml$/m);
    t.after(() => rmSync(dirname(configuration), { recursive: true, force: true }));
    assert.deepEqual(readdirSync(dirname(configuration)), ['configuration']);
    await cluster.up(...UP, '--config', file, '--accept-loss');
    assert.equal(await cluster.ok('logs', '1'), 'kept');
    // The head makes one by itself at that time.
    const made = await until('no other is being made', async () => {
      const { code, out, error } = await cluster.weft('backup');
      assert.ok(code === 0 || error.includes('one at a time'), error);
      return code === 0 ? out : undefined;
    });
    assert.match(made, /Backup s3:/);
    assert.equal((JSON.parse(await cluster.ok('backup', '--list', '-o', 'json')) as []).length, 2);
    // What was sent is beside the head's state, with its keys.
    await cluster.ok('down', '--clean', '--yes', '--now');
    assert.deepEqual(existsSync(cluster.state) ? readdirSync(cluster.state) : [], []);
  });
});
