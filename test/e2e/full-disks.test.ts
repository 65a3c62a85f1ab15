// Disks that fill up in the middle: a node's while files come for a task, a node's by the task
// itself, and the head's while it takes what a task has left. Each says what is full and where,
// shows nothing that is not whole, and goes on once there is room.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { HostedCluster, type JobShown, QUICK } from './support/hosted-cluster.ts';
import { type Host, until } from './support/hosts.ts';
import { cleanEnvironment, repository, runProgram, type Said } from './support/local-cluster.ts';

const WEFT = join(repository, 'bin', 'weft.mjs');
const MIB = 1_048_576;
/** The head leaves 256 MiB of its disk to its journal. */
const DISKS = { head: '600m', lastNode: '100m' };
/** What a node's cache calls a whole content. */
const WHOLE = /^[0-9a-f]{62}$/;

interface JobTold extends JobShown {
  readonly reason: { readonly kind: string; readonly words: string } | null;
}

describe('disks that fill up', { timeout: 900_000 }, () => {
  let cluster: HostedCluster;
  let work = '';
  /** What takes up room now. */
  const fillers = new Set<string>();
  const slow = new Set<Host>();

  before(async () => {
    cluster = await HostedCluster.start(2, QUICK, DISKS);
    work = join(cluster.directory, 'work');
    mkdirSync(work);
  });
  after(() => cluster?.close());
  // A test that failed may have left something of it.
  afterEach(() => {
    makeRoom();
    hurry();
  });

  const weft = (...args: string[]): Promise<Said> => {
    const env = cleanEnvironment({ WEFT_SOCKET: cluster.socketPath });
    return runProgram([process.execPath, WEFT, ...args], { cwd: work, env });
  };
  const ok = async (...args: string[]): Promise<string> => {
    const { code, out, error } = await weft(...args);
    assert.equal(code, 0, `weft ${args.join(' ')}: ${out}${error}`);
    return out;
  };
  const run = async (node: string, ...args: string[]): Promise<number> =>
    Number(await ok('run', '--private', '--memory', '300M', '--nodes-named', node, ...args));
  const job = (id: number) => cluster.job(id) as Promise<JobTold>;
  const outcome = async (id: number) => (await cluster.done(id)).outcome?.kind;
  const fault = async (): Promise<string | null> =>
    (await cluster.call<{ fault: string | null }>('GET', '/v1/nodes/n2')).fault;
  /** A file with a content that nobody has yet; its SHA-256. */
  const make = (name: string, bytes: number): string => {
    const content = randomBytes(bytes);
    writeFileSync(join(work, name), content);
    return sha256(content);
  };
  const pulled = (id: number, name: string): Buffer => readFileSync(join(work, String(id), name));
  /** Takes so much, or all there is. */
  const fill = (directory: string, bytes = 100 * 1024 * MIB): void => {
    const filler = join(directory, 'filler');
    fillers.add(filler);
    const take = 'head -c "$2" /dev/zero > "$1" 2>/dev/null || true';
    execFileSync('sh', ['-c', take, '_', filler, String(bytes)]);
  };
  const makeRoom = (): void => {
    for (const filler of fillers) rmSync(filler, { force: true });
    fillers.clear();
  };
  /** What the host sends takes long enough to have a middle: some 1 MB a second. */
  const slowDown = (host: Host): void => {
    const limit = ['tbf', 'rate', '8mbit', 'burst', '256kb', 'latency', '400ms'];
    execFileSync('tc', ['-n', host.netns, 'qdisc', 'add', 'dev', 'eth0', 'root', ...limit]);
    slow.add(host);
  };
  const hurry = (): void => {
    for (const { netns } of slow) {
      execFileSync('tc', ['-n', netns, 'qdisc', 'del', 'dev', 'eth0', 'root']);
    }
    slow.clear();
  };
  const cached = (): string[] => filesIn(join(cluster.member('n2').stateDir, 'cache'));
  const incoming = (): string[] => filesIn(join(cluster.headDirectory, 'blobs', 'incoming'));
  const notice = (id: number, words: RegExp) =>
    until(`job ${id} says ${words}`, async () => words.test((await job(id)).notice ?? ''));
  /** Nobody sees anything of what is not whole. */
  const isNotThere = async (id: number): Promise<void> => {
    assert.equal((await job(id)).state, 'staging_out');
    const { code, error } = await weft('pull', String(id));
    assert.equal(code, 3, error);
    assert.match(error, new RegExp(`No files of job ${id} are kept`));
    assert.equal(existsSync(join(cluster.headDirectory, 'archive', 'jobs', String(id))), false);
  };
  const isWhole = async (id: number): Promise<void> => {
    await ok('pull', String(id));
    assert.equal(`${sha256(pulled(id, 'r'))}  r\n`, pulled(id, 'sum').toString());
  };
  const leaves = (bytes: number): string => `head -c ${bytes} /dev/urandom > r; sha256sum r > sum`;

  it('[F5] without room in the quota of the head files wait on their node until it has more', async () => {
    await restartHead(24 * MIB);
    make('kept', 16 * MIB);
    await ok('run', '--in', 'kept', '--hold', '--', 'true');
    const id = await run('n1', '--out', 'r', '--out', 'sum', '--', leaves(12 * MIB));
    const room =
      'The head has 1\\dM of at most 24M of files \\(head.blobs_max\\); there is no room for 12M more\\.';
    await notice(
      id,
      new RegExp(`wait for room on the head: ${room} Wait until .* Until then they stay on n1\\.`),
    );
    await isNotThere(id);
    await restartHead(500 * MIB);
    assert.equal(await outcome(id), 'completed');
    assert.equal((await job(id)).notice, null);
    await isWhole(id);
  });

  it("[F10] the head's disk fills while it takes files: they wait on their node, and none is there in part", async () => {
    slowDown(cluster.member('n1').host);
    const id = await run('n1', '--out', 'r', '--out', 'sum', '--', leaves(20 * MIB));
    await until('a part has come', () => incoming().length > 0);
    fill(cluster.headDirectory);
    hurry();
    await notice(id, /wait for room on the head: The disk of the head is full .*they stay on n1\./);
    assert.deepEqual(incoming(), [], 'what came in part makes room');
    await isNotThere(id);
    makeRoom();
    assert.equal(await outcome(id), 'completed');
    await isWhole(id);
  });

  it('[F9] a disk that fills while files come: the task waits, and starts with all of them', async () => {
    const hash = make('input', 20 * MIB);
    slowDown(cluster.head.host);
    const id = await run('n2', '--in', 'input', '--', 'sha256sum input > sum');
    await until('a part has come', () => cached().some((name) => !WHOLE.test(name)));
    fill(cluster.member('n2').stateDir);
    hurry();
    // It may be pending for a moment before its node has said that its disk is full.
    await until('the task waits for the disk', async () => {
      const { state, reason } = await job(id);
      return state === 'pending' && /n2 is out of use \(disk full\)/.test(reason?.words ?? '');
    });
    assert.deepEqual(cached(), [], 'what came in vain is not kept on a full disk');
    assert.deepEqual(filesIn(join(cluster.member('n2').stateDir, 'work')), []);
    makeRoom();
    assert.equal(await outcome(id), 'completed');
    await ok('pull', String(id));
    assert.equal(pulled(id, 'sum').toString(), `${hash}  input\n`);
  });

  it('[F11] files that a disk is too small for hold the job, which says where, and the node runs others', async () => {
    const hash = make('large', 40 * MIB);
    fill(cluster.member('n2').stateDir, 58 * MIB);
    const id = await run('n2', '--in', 'large', '--', 'sha256sum large > sum');
    const held = await until('it is held', async () => {
      const { reason } = await job(id);
      return reason?.kind === 'held' ? reason.words : undefined;
    });
    const where =
      /last: its files did not get to n2: cannot write \/\S+\/n2\/cache\/\S+: the disk is full;/;
    assert.match(held, where);
    assert.match(held, new RegExp(`\`weft release ${id}\` tries again$`));
    assert.deepEqual(cached(), []);
    assert.equal(await outcome(await run('n2', '--', 'echo > x')), 'completed');
    makeRoom();
    await ok('release', String(id));
    assert.equal(await outcome(id), 'completed');
    await ok('pull', String(id));
    assert.equal(pulled(id, 'sum').toString(), `${hash}  large\n`);
  });

  it('[F10] what a task leaves on a disk that it has filled is kept, also by an agent that starts there', async () => {
    const member = cluster.member('n2');
    slowDown(member.host);
    const fills = `${leaves(20 * MIB)}; head -c 200000000 /dev/zero > junk; exit 3`;
    const id = await run('n2', '--out', 'r', '--out', 'sum', '--', fills);
    await until('a part has come', () => incoming().length > 0);
    assert.equal((await job(id)).state, 'staging_out');
    await until('the head knows', async () => (await fault()) === 'disk full');
    await cluster.killAgent(member);
    await cluster.startAgent(member);
    await cluster.nodesUp(['n2']);
    const next = await run('n2', '--', 'echo > x');
    hurry();
    assert.equal(await outcome(id), 'failed');
    assert.equal((await job(id)).outcome?.detail, 'exited with code 3 on n2');
    await isWhole(id);
    assert.equal(await outcome(next), 'completed');
    assert.equal(await fault(), null);
  });

  /** With another quota, as an admin would give it. */
  async function restartHead(blobBytesMax: number): Promise<void> {
    await cluster.killHead();
    cluster.blobBytesMax = blobBytesMax;
    await cluster.startHead();
    await cluster.nodesUp();
  }
});

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function filesIn(folder: string): string[] {
  const all = existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
    : [];
  return all.filter((entry) => entry.isFile()).map((entry) => entry.name);
}
