// Several users on one cluster: jobs run as their submitters, and nobody reaches what is another's.
// Needs root, as agents that switch users do.

import assert from 'node:assert/strict';
import { chownSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { decodeTicket } from '../../src/kernel/cli/join-string.ts';
import { until } from './support/hosts.ts';
import {
  ALICE,
  BOB,
  CAROL,
  GRACE_MS,
  LAB_GID,
  ROOT,
  SharedCluster,
  type User,
} from './support/shared-cluster.ts';

const skip = process.getuid?.() === 0 ? false : 'only root can switch users';

describe('a cluster of several users', { skip }, () => {
  let cluster: SharedCluster;
  before(async () => {
    cluster = await SharedCluster.start();
  });
  after(() => cluster.close());

  const file = (user: User, name: string) => join(cluster.home(user), name);
  const appears = (path: string) =>
    until(`${path} is there`, () => (existsSync(path) ? true : undefined));

  it('a job runs as its submitter, with groups, in their directory, with their umask', async () => {
    const script = 'id -un; id -u; id -g; id -G; pwd; echo mine > file; umask';
    const said = await cluster.as(ALICE, 'run', '-f', '--umask', '027', '--', script);
    assert.equal(said.code, 0, said.error);
    const [name, uid, gid, groups, directory, mask] = said.out.trim().split('\n');
    const { uid: own } = ALICE;
    assert.deepEqual([name, uid, gid], ['alice', `${own}`, `${own}`]);
    assert.deepEqual(groups?.split(' ').map(Number).sort(), [own, LAB_GID]);
    assert.equal(directory, cluster.home(ALICE));
    assert.match(mask ?? '', /0?027$/);
    const made = statSync(file(ALICE, 'file'));
    assert.deepEqual([made.uid, made.gid, made.mode & 0o777], [own, own, 0o640]);
  });

  it('a private directory and output files belong to the submitter too', async () => {
    const said = await cluster.as(BOB, 'run', '-f', '--private', '--', 'stat -c "%u %a" .');
    assert.equal(said.out, `${BOB.uid} 700\n`);
    await cluster.ok(BOB, 'run', '--wait', '--output', 'out.txt', 'echo', 'written');
    const { uid, gid } = statSync(file(BOB, 'out.txt'));
    assert.deepEqual([uid, gid], [BOB.uid, BOB.uid]);
  });

  it('[Z2] a step runs as the owner of its job, and nobody else but an admin starts one', async () => {
    const id = (await cluster.ok(ALICE, 'run', '--', 'sleep 600')).trim();
    const own = await cluster.as(ALICE, 'exec', id, '--', 'sh', '-c', 'id -un; id -G; exit 4');
    assert.equal(own.code, 4, own.error);
    const [name, groups] = own.out.trim().split('\n');
    assert.equal(name, 'alice');
    assert.deepEqual(groups?.split(' ').map(Number).sort(), [ALICE.uid, LAB_GID]);
    const other = await cluster.as(BOB, 'exec', id, '--', 'id', '-un');
    assert.deepEqual([other.code, other.out], [4, '']);
    assert.match(other.error, /belongs to alice/);
    await cluster.ok(ALICE, 'cancel', id);
  });

  it('a step on another node runs as the submitter too, in the directory of the job', async () => {
    const other = '"$(tail -n 1 "$WEFT_HOSTFILE")"';
    const line = `"$WEFT_RSH" ${other} 'id -un; id -G; pwd; echo "$WEFT_NODE_RANK"'`;
    const said = await cluster.as(ALICE, 'run', '--mpi', '-n', '2', '-f', '--', line);
    assert.equal(said.code, 0, said.error);
    const [name, groups = '', directory, rank] = said.out.trim().split('\n');
    assert.deepEqual([name, directory, rank], ['alice', cluster.home(ALICE), '1']);
    assert.deepEqual(groups.split(' ').map(Number).sort(), [ALICE.uid, LAB_GID]);
  });

  it('[J18] others neither act on a job nor read its output', async () => {
    const id = await cluster.ok(ALICE, 'run', '--', 'echo secret; exec sleep 600');
    await until('it runs', async () => {
      return (await cluster.ok(ALICE, 'logs', id)) === 'secret' || undefined;
    });
    for (const verb of ['kill', 'hold', 'suspend', 'requeue', 'logs']) {
      const { code, out, error } = await cluster.as(BOB, verb, id);
      assert.deepEqual([code, out, error], [4, '', `weft: Job ${id} belongs to alice.\n`], verb);
    }
    const seen = await cluster.ok(BOB, 'job', id, '-o', 'json');
    assert.doesNotMatch(seen, new RegExp(`${cluster.home(ALICE)}/.*PATH|"HOME"`));
    await cluster.root('user', 'create', 'bob', '--role', 'operator');
    await cluster.ok(BOB, 'kill', id);
    await cluster.root('user', 'remove', 'bob');
    const { kind, detail } = await cluster.outcome(id);
    assert.equal(kind, 'cancelled');
    assert.match(detail ?? '', /bob/);
  });

  it('[J18] the commands of Slurm act on no job of others', async () => {
    const id = await cluster.ok(ALICE, 'run', '--', 'exec sleep 600');
    await until(
      'it runs',
      async () =>
        /"state": *"running"/.test(await cluster.ok(ALICE, 'job', id, '-o', 'json')) || undefined,
    );
    const wrong = [
      ['scancel', id],
      ['scancel', '-s', 'USR1', id],
      ['scontrol', 'hold', id],
      ['scontrol', 'update', `jobid=${id}`, 'nice=1'],
      ['scontrol', 'requeue', id],
      ['srun', `--jobid=${id}`, 'true'],
      ['sstat', '-j', id],
    ];
    for (const words of wrong) {
      const { code, out, error } = await cluster.slurm(BOB, ...words);
      assert.deepEqual([code, out], [1, ''], words.join(' '));
      assert.match(error, new RegExp(`^${words[0]}: error: .*(alice|owner)`), words.join(' '));
    }
    const mine = await cluster.slurm(BOB, 'scancel', '-u', 'bob');
    assert.equal(mine.code, 0, mine.error);
    assert.equal((await cluster.slurm(ALICE, 'scancel', id)).code, 0);
    assert.equal((await cluster.outcome(id)).kind, 'cancelled');
  });

  it('[J18] ordinary users administer nothing', async () => {
    const DENIED = [
      ['node', 'drain', 'n1'],
      ['node', 'remove', 'n1'],
      ['token', 'join'],
      ['token', 'create', '--user', 'bob'],
      ['user', 'create', 'alice', '--role', 'admin'],
    ];
    for (const args of DENIED) {
      const { code, error } = await cluster.as(ALICE, ...args);
      assert.equal(code, 4, `${args.join(' ')}: ${error}`);
      assert.match(error, /needs the role (operator|admin); alice is user/);
    }
  });

  it('a job gets at nothing of another user, nor of the agent', async () => {
    writeFileSync(file(ALICE, 'secret'), 'the secret of alice\n', { mode: 0o600 });
    const held = await cluster.ok(ALICE, 'run', '--', 'echo the secret of alice; sleep 600');
    await until('it runs', async () => {
      return (await cluster.ok(ALICE, 'logs', held)) !== '' || undefined;
    });
    const search = `find ${cluster.directory} -type f -readable 2>/dev/null | grep -v /program/`;
    const found = await cluster.ok(BOB, 'run', '-f', '-n', '2', '--', `${search} || true`);
    for (const path of found.split('\n').map((line) => line.replace(/^\d\.\d: /, ''))) {
      if (path === '') continue;
      assert.ok(!path.startsWith(cluster.home(ALICE)), path);
      assert.doesNotMatch(contentOf(path), /secret of alice/, path);
      assert.doesNotMatch(path, /membership|journal|\.sqlite|\.pem|launcher\.sock/);
    }
    const REACHES = [
      ['--chdir', cluster.home(ALICE), 'true'],
      ['--stdin', file(ALICE, 'secret'), 'cat'],
      ['--output', file(ALICE, 'planted'), 'true'],
    ];
    for (const args of REACHES) {
      const { kind, detail } = await cluster.outcome(await cluster.ok(BOB, 'run', ...args));
      assert.equal(kind, 'launch_failed', args.join(' '));
      assert.match(detail ?? '', /Permission denied \(EACCES\)/);
    }
    assert.equal(existsSync(file(ALICE, 'planted')), false);
    await cluster.ok(ALICE, 'kill', held);
  });

  it('[F3] files go in and out as those of their user, and nobody else gets at them', async () => {
    const words = 'what only alice knows\n';
    writeFileSync(file(ALICE, 'in.txt'), words, { mode: 0o600 });
    chownSync(file(ALICE, 'in.txt'), ALICE.uid, ALICE.uid);
    const script = 'stat -c "%u %a" . in.txt; umask 077; cp in.txt out.txt';
    const files = ['--in', 'in.txt', '--out', 'out.txt'];
    const id = await cluster.ok(ALICE, 'run', ...files, '--nodes-named', 'n1', '--', script);
    assert.equal((await cluster.as(ALICE, 'wait', id)).code, 0);
    const own = `${ALICE.uid}`;
    assert.equal(await cluster.ok(ALICE, 'logs', id), `${own} 700\n${own} 600`);
    await cluster.ok(ALICE, 'pull', id, '--save-dir', 'pulled');
    const pulled = file(ALICE, `pulled/${id}/out.txt`);
    assert.equal(readFileSync(pulled, 'utf8'), words);
    const { uid, gid, mode } = statSync(pulled);
    assert.deepEqual([uid, gid, mode & 0o777], [ALICE.uid, ALICE.uid, 0o600]);
    const stolen = await cluster.as(BOB, 'pull', id, '--save-dir', 'stolen');
    assert.deepEqual([stolen.code, existsSync(file(BOB, 'stolen'))], [4, false], stolen.error);
    assert.match(stolen.error, new RegExp(`Job ${id} belongs to alice`));
    const search = `grep -rlsF 'what only alice knows' ${cluster.directory} --exclude-dir=program`;
    const found = await cluster.ok(
      BOB,
      'run',
      '-f',
      '--nodes-named',
      'n1',
      '--',
      `${search} || true`,
    );
    assert.equal(found, '', 'neither in the cache of the node nor on the head');
    const reached = await cluster.as(BOB, 'run', '--in', file(ALICE, 'in.txt'), 'true');
    assert.notEqual(reached.code, 0);
    assert.match(reached.error, /EACCES|[Pp]ermission|may not/);
  });

  it('jobs of root are refused', async () => {
    const { code, error } = await cluster.root('run', 'true');
    assert.equal(code, 4);
    assert.match(error, /Jobs as root are refused.*: n1, n2\./);
  });

  it('a user whom the node does not know is told so, and the node stays in use', async () => {
    assert.equal((await cluster.as(CAROL, 'run', '--wait', '--nodes-named', 'n1', 'true')).code, 0);
    const id = await cluster.ok(CAROL, 'run', '--nodes-named', 'n2', 'true');
    const { kind, detail } = await cluster.outcome(id);
    assert.deepEqual([kind, detail], ['launch_failed', 'user carol does not exist on node n2']);
    assert.equal((await cluster.as(ALICE, 'run', '--wait', '-n', '2', 'true')).code, 0);
  });

  it('a token stands for its user from elsewhere, until it is revoked', async () => {
    const token = await cluster.ok(ALICE, 'token', 'create');
    const ticket = decodeTicket((await cluster.root('token', 'join')).out.trim());
    assert.ok(ticket.ok);
    const env = {
      WEFT_TOKEN: token,
      WEFT_HEAD: `https://${ticket.value.addresses[0]}`,
      WEFT_FINGERPRINT: ticket.value.fingerprint,
      WEFT_SOCKET: undefined,
    };
    const from = (...args: string[]) => cluster.run(BOB, args, { env });
    assert.equal((await from('user', 'whoami')).out, 'alice (user)\n');
    const said = await from('run', '-f', '--private', 'id', '-un');
    assert.deepEqual([said.code, said.out], [0, 'alice\n'], said.error);
    const [, tokenId = ''] = token.split('_');
    assert.equal((await cluster.as(BOB, 'token', 'revoke', tokenId)).code, 3, 'not his');
    await cluster.ok(ALICE, 'token', 'revoke', tokenId);
    const late = await from('jobs');
    assert.equal(late.code, 4);
    assert.match(late.error, /unknown, revoked or expired/);
  });

  it('too much memory ends a job as out_of_memory, and its neighbour goes on', async () => {
    const neighbour = await cluster.ok(BOB, 'run', '--', 'until [ -e go ]; do sleep 0.1; done');
    const hog = await cluster.as(
      ALICE,
      ...['run', '--wait', '--memory', '64M', '--', 'head -c 400M /dev/zero | tail'],
    );
    assert.equal(hog.code, 137, hog.error);
    assert.match(hog.error, /out_of_memory/);
    writeFileSync(file(BOB, 'go'), '');
    assert.equal((await cluster.as(BOB, 'wait', neighbour)).code, 0);
  });

  it('[J29] a main process that waits for one the kernel killed ends with it, where that is asked', async () => {
    const waits = '(head -c 400M /dev/zero | tail); sleep 600';
    const asked = await cluster.as(
      ALICE,
      ...['run', '--wait', '--memory', '64M', '--on-oom', 'end', '--', waits],
    );
    assert.match(asked.error, /out_of_memory/);
    // Whether the kernel kills all of it or a part is the kernel's choice: neither is silent.
    const id = await cluster.ok(ALICE, 'run', '--memory', '64M', '--', waits);
    const words = await until('what happened is told', async () => {
      const { out } = await cluster.as(ALICE, 'job', id);
      return /The kernel killed 1 process of it on|out_of_memory/.exec(out)?.[0];
    });
    assert.notEqual(words, '');
    await cluster.as(ALICE, 'kill', id);
    await cluster.as(ALICE, 'wait', id);
  });

  it('[S11] at its time limit a job is asked first, and killed after the grace', async () => {
    const note = "trap 'date +%s%3N > asked.new && mv asked.new asked' TERM";
    const stubborn = `${note}; while :; do sleep 0.1; done`;
    // On a busy machine its time may be over before it listens: then the next gets more.
    for (const limit of ['1s', '5s', '20s']) {
      const id = await cluster.ok(ALICE, 'run', '-t', limit, '--', stubborn);
      const { code } = await cluster.as(ALICE, 'wait', id);
      assert.equal(code, 124);
      if (!existsSync(file(ALICE, 'asked'))) continue;
      const times = JSON.parse(await cluster.ok(ALICE, 'job', id, '-o', 'json')) as TimesShown;
      // The note of it may be late, never early.
      const askedAt = Number(readFileSync(file(ALICE, 'asked'), 'utf8'));
      const limitMs = 1000 * Number.parseInt(limit, 10);
      assert.ok(askedAt - times.startedAt >= limitMs - 100, 'not before its time');
      assert.ok(askedAt < times.endedAt, 'asked first');
      assert.ok(times.endedAt - times.startedAt >= limitMs + GRACE_MS - 100, 'and a grace');
      return;
    }
    assert.fail('it never came to note that it was asked');
  });

  it('a kill reaches processes that left session, parents and environment', async () => {
    const nap = (at: number): string => `sleep ${NAP}${at}`;
    const script = [
      `${nap(1)} &`,
      `setsid ${nap(2)} &`,
      `setsid sh -c "(${nap(3)} &) ; exit" &`,
      `setsid env -i sh -c "(env -i /bin/${nap(4)} &); (trap : TERM; /bin/${nap(5)})" &`,
      `echo started > escaped; ${nap(6)}`,
    ];
    const id = await cluster.ok(ALICE, 'run', '--', script.join('\n'));
    await appears(file(ALICE, 'escaped'));
    await until('all of them run', () => (sleepers().length === 6 ? true : undefined));
    await cluster.ok(ALICE, 'kill', id);
    assert.equal((await cluster.outcome(id)).kind, 'cancelled');
    assert.deepEqual(sleepers(), [], 'when the job is done, nothing of it is left');
  });

  it('output over the limit is cut in its middle, and the cut is told', async () => {
    const id = await cluster.ok(ALICE, 'run', '--', "head -c 200000 /dev/zero | tr '\\0' x");
    await cluster.outcome(id);
    const { out, error } = await cluster.as(ALICE, 'logs', id);
    const missing = 200_000 - LOG_LIMIT - LOG_LIMIT / 4;
    const [start, mark, end] = out.split('\n').filter((line) => line !== '');
    assert.deepEqual([start?.length, end?.length], [LOG_LIMIT, LOG_LIMIT / 4]);
    assert.match(mark ?? '', new RegExp(`${missing} bytes of output are missing here`));
    assert.match(error, new RegExp(`${missing} bytes of output are missing: .* head.log_limit`));
  });

  it('[F15] a user gets no more room for files than an admin gives them, others do', async () => {
    await cluster.ok(ROOT, 'user', 'create', 'carol', '--files', '64K');
    await cluster.ok(ROOT, 'user', 'create', 'bob', '--files', '1M');
    for (const user of [ALICE, BOB, CAROL]) {
      writeFileSync(file(user, 'large'), Buffer.alloc(300_000, user.name));
      chownSync(file(user, 'large'), user.uid, user.uid);
    }
    const send = (user: User) =>
      cluster.as(user, 'run', '--wait', '--in', 'large', '--nodes-named', 'n1', 'true');
    const { code, error } = await send(CAROL);
    assert.notEqual(code, 0);
    assert.match(
      error,
      /carol has .* of at most 64K of files on the head; there is no room for 2\d\d/,
    );
    for (const user of [ALICE, BOB]) {
      const said = await send(user);
      assert.equal(said.code, 0, said.error);
    }
    await cluster.ok(ROOT, 'user', 'modify', 'carol', '--files', 'default');
    assert.equal((await send(CAROL)).code, 0);
  });

  it('[N19] a copy of a node is refused until it is a node of its own, which runs jobs', async () => {
    const copy = cluster.copyNode('n1', 'n3');
    const stopCopy = cluster.startAgent('n3', copy);
    const node = async (name: string) => {
      const nodes = JSON.parse(await cluster.ok(ROOT, 'node', 'list', '-o', 'json'));
      return (nodes as NodeShown[]).find((one) => one.name === name);
    };
    await until(
      'the copy is known',
      async () => (await node('n1'))?.fault === 'cloned' || undefined,
    );
    await stopCopy();
    const ticket = await cluster.ok(ROOT, 'token', 'join');
    const args = ['node', 'reenroll', '--name', 'n3', ticket];
    const said = await cluster.run(ROOT, args, { env: copy });
    assert.equal(said.code, 0, said.error);
    assert.match(said.out, /^This machine is node n3 of /);
    cluster.startAgent('n3', copy);
    const isUp = async (name: string) => {
      const { state, fault } = (await node(name)) ?? {};
      return state === 'up' && !fault ? true : undefined;
    };
    for (const name of ['n1', 'n3']) await until(`${name} is up`, () => isUp(name));
    for (const name of ['n1', 'n3']) {
      const script = 'echo "$WEFT_NODELIST" ran';
      const { out, error } = await cluster.as(
        ALICE,
        ...['run', '-f', '--nodes-named', name, '--', script],
      );
      assert.equal(out, `${name} ran\n`, error);
    }
  });
});

interface NodeShown {
  readonly name: string;
  readonly state: string;
  readonly fault?: string | null;
}

/** `head.log_limit` of the cluster; a quarter of it is kept of the end. */
const LOG_LIMIT = 65_536;

/** Seconds that nobody else sleeps. */
const NAP = `98${process.pid}`;

/** Command lines of the sleepers of the escape artist. */
function sleepers(): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const isOurs = new RegExp(`^(/bin/)?sleep ${NAP}\\d $`);
  return pids.map(commandLine).filter((line) => isOurs.test(line));
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return ''; // It ended meanwhile.
  }
}

interface TimesShown {
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Empty for what is gone since it was listed: programs write aside, and rename. */
function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return '';
  }
}
