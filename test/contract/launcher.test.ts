// What every launcher must do, run against the C launcher with two C libraries and under
// sanitizers, and the Node fallback. Where the fallback cannot, LACKS says so and the test
// asserts what it does instead.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { constants } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { LauncherClient } from '../../src/kernel/agent/launcher-client.ts';
import { RequestWriter } from '../../src/kernel/agent/launcher-wire.ts';
import { parseCpuList } from '../../src/kernel/base/cpu-list.ts';
import type { ProcessEvent } from '../../src/kernel/model/processes.ts';
import {
  ENDS_PREFIX,
  mountNamespace,
  ownerIn,
} from '../../src/kernel/os/launcher-fallback/ends.ts';
import { encodeAnswer } from '../../src/kernel/os/launcher-fallback/wire.ts';
import {
  LAUNCHER_ERROR,
  LAUNCHER_VERSION,
  LEASE_OVER,
  RECORD_STATE,
  STAGE,
} from '../../src/kernel/ports/launcher-frames.ts';
import { missingPackages } from '../../tools/debian-packages.ts';
import {
  type Agent,
  type Flavour,
  flavours,
  frameOf,
  Launcher,
  newFolder,
  PATH,
  spawnLauncher,
  subfolder,
  sweep,
  until,
} from '../launcher/harness.ts';
import { PLAIN_LAUNCH } from '../support/plain.ts';

/**
 * Unmaps the pages of its environment, which are above its arguments and what its stack still
 * needs, says its pid, and waits.
 */
const LETS_GO = `
  open(my $file, '<', '/proc/self/stat') or die;
  my @field = split(/ /, (split(/\\) /, <$file>))[-1]);
  my ($from, $to) = ($field[47] & ~4095, ($field[48] + 4095) & ~4095);
  syscall(\`uname -m\` =~ /x86_64/ ? 11 : 215, $from, $to - $from) == 0 or die;
  $| = 1; print "$$\\n"; sleep 600;`;

/** What the Node fallback cannot do; each has a test below that looks at its weaker way. */
const LACKS: Record<Flavour, ReadonlySet<string>> = {
  c: new Set(),
  musl: new Set(),
  sanitized: new Set(),
  node: new Set([
    'usage', // Node does not give a child's rusage
    'orphans', // Node cannot be a subreaper: orphans go to the system's init
    'exact environment', // its shells add PWD
    'odd bytes', // Node's argv is text
    'closed descriptors', // what it inherited itself beyond stdio stays open
    'reaped wait', // zombies of orphans are init's
    'unnamed signals', // for Node a program that ended by a real-time one has exit code 0
  ]),
};
const { SIGTERM, SIGKILL, SIGSTOP, SIGCONT } = constants.signals;
const { ENOENT, EACCES, ENOTDIR, ETIME } = constants.errno;
const isRoot = process.getuid?.() === 0;
const needsRoot = isRoot ? {} : { skip: 'needs root' };
const cgroupRoot = ['/sys/fs/cgroup/unified', '/sys/fs/cgroup'].find((path) =>
  existsSync(join(path, 'cgroup.procs')),
);
const needsCgroups = isRoot && cgroupRoot ? {} : { skip: 'needs root and a cgroup v2 tree' };
const canHide =
  isRoot &&
  spawnSync('unshare', ['-m', 'mount', '-t', 'proc', '-o', 'hidepid=2', 'proc', '/proc']).status ===
    0;
const needsHiding = canHide ? {} : { skip: 'needs root and a /proc of its own' };
/** A file system whose server never answers, in a mount namespace of its own; who holds the
 * device leaves its pid. */
const HANGING = [
  'set -e',
  'exec 3<>/dev/fuse',
  'mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 hung "$1"',
  'sleep 600 &',
  'echo $! >"$2"',
  'exec 3>&-',
  'shift 2',
  'exec "$@"',
].join('\n');
const canHang = isRoot && existsSync('/dev/fuse');
const needsFuse = canHang ? {} : { skip: 'needs root and FUSE' };
const NOBODY = 65534;
/** A uid that nobody else's processes have: they would be at stake. */
const LONER = 61_234;
const MALFORMED = LAUNCHER_ERROR.malformed;
const GREETING = { version: LAUNCHER_VERSION, pid: 1, startTicks: 1n, uid: 0 };
const lacksPackage = missingPackages(['contract']).some(({ name }) => name === 'musl-tools');
const lacksMusl = process.env['CI'] !== 'true' && lacksPackage;

for (const flavour of Object.keys(flavours) as Flavour[]) {
  const skip = flavour === 'musl' && lacksMusl && 'needs musl-gcc';
  describe(`launcher ${flavour}`, { concurrency: false, skip }, () => suite(flavour));
}

test('many large starts go out in slices', async () => {
  const sizes: number[] = [];
  let greet: (bytes: Uint8Array) => void = () => assert.fail();
  const onData = (handler: typeof greet): void => {
    greet = handler;
  };
  const stream = { onData, onClose: () => undefined, close: () => undefined };
  const write = (bytes: Uint8Array): void => void sizes.push(bytes.length);
  const client = new LauncherClient({ ...stream, write }, { onRefused: assert.fail });
  greet(encodeAnswer('hello', GREETING));
  const environment = ['V='.padEnd(500_000, 'x')];
  for (let launchId = 1; launchId <= 10; launchId += 1) {
    client.start({ ...plain, launchId, argv: ['true'], environment });
  }
  client.close();
  assert.ok(sizes.length >= 3 && Math.max(...sizes) < 2_000_000, sizes.join());
  assert.ok(sizes.reduce((sum, size) => sum + size) > 5_000_000);
});

test('an old launcher is spoken to in its own version, starts nothing, and is ended when it holds nothing', async () => {
  let hear: (bytes: Uint8Array) => void = () => assert.fail();
  const said: Uint8Array[] = [];
  const client = new LauncherClient(
    {
      onData: (handler) => {
        hear = handler;
      },
      write: (bytes) => void said.push(bytes),
      onClose: () => undefined,
      close: () => undefined,
    },
    { onRefused: assert.fail, version: LAUNCHER_VERSION + 1 },
  );
  client.heard(5000);
  const known = client.adopt();
  hear(encodeAnswer('hello', GREETING));
  const usage = { userUs: 1n, systemUs: 1n, rssPeakKib: 1n };
  const record = { id: 7n, state: RECORD_STATE.exited, pid: 1, startTicks: 1n, startedAt: 1n };
  hear(encodeAnswer('record', { ...record, ...usage, status: 0, stage: 0, endedAt: 1n, why: 0 }));
  hear(encodeAnswer('list_end', { count: 1 }));
  assert.deepEqual(
    (await known).map(({ launchId, state }) => [launchId, state]),
    [[7, 'ended']],
  );
  assert.equal(client.outdated, `a launcher of version ${LAUNCHER_VERSION}`);
  assert.throws(() => client.start({ ...plain, launchId: 8, argv: ['true'] }), /nothing new/);
  client.signal(7, SIGTERM);
  client.forget(7);
  const bytesOfOld = bytesOf((writer) => {
    writer.version = LAUNCHER_VERSION;
    writer.hello();
    writer.heard(5000);
    writer.list();
    writer.signal(7, SIGTERM);
    writer.forget(7);
    writer.shutdown();
  });
  await until('all it was asked', () => Buffer.concat(said).equals(bytesOfOld));
});

test('only a launcher that knows scopes is sent them, as one of before would close', async () => {
  let hear: (bytes: Uint8Array) => void = () => assert.fail();
  const said: Uint8Array[] = [];
  const onData = (handler: typeof hear): void => {
    hear = handler;
  };
  const stream = { onData, onClose: () => undefined, close: () => undefined };
  const write = (bytes: Uint8Array): void => void said.push(bytes);
  const client = new LauncherClient({ ...stream, write }, { onRefused: assert.fail });
  hear(encodeAnswer('hello', GREETING));
  client.signal(7, SIGTERM, true, 'main');
  const ofBefore = bytesOf((writer) => {
    writer.hello();
    writer.signal(7, SIGTERM);
  });
  await until('it is asked as one of before', () => Buffer.concat(said).equals(ofBefore));
  hear(encodeAnswer('error', { code: LAUNCHER_ERROR.knowsScopes, id: 0n, text: 'scopes' }));
  client.signal(7, SIGTERM, true, 'main');
  const after = bytesOf((writer) => writer.signal(7, SIGTERM, 'main'));
  await until('it is asked for the one', () => {
    return Buffer.concat(said).equals(Buffer.concat([ofBefore, after]));
  });
});

function suite(flavour: Flavour): void {
  const has = (ability: string): boolean => !LACKS[flavour].has(ability);
  const binaries = newFolder();
  let command: string[] = [];
  let launcher: Launcher;
  let agent: Agent;
  let id = 0;

  before(async () => {
    command = flavours[flavour](binaries);
    launcher = new Launcher(command);
    agent = await launcher.connect();
  });
  after(async () => {
    const { code, errors } = await launcher.end();
    sweep();
    rmSync(binaries, { recursive: true });
    assert.deepEqual({ code, errors }, { code: 0, errors: '' });
  });

  const shell = (script: string, ...args: string[]): string[] => [
    '/bin/sh',
    '-c',
    script,
    'sh',
    ...args,
  ];
  /** What a script writes to its standard output. */
  const outputOf = async (frame: Parameters<Agent['run']>[0]): Promise<string> => {
    const stdout = join(launcher.folder, `out-${frame.id}`);
    await agent.run({ ...frame, stdout });
    return readFileSync(stdout, 'utf8');
  };
  const failure = async (frame: Parameters<Agent['spawn']>[0]): Promise<[number, number]> => {
    agent.spawn(frame);
    const { errno, stage } = await agent.answer('failed', frame.id);
    return [errno, stage];
  };

  test('the greeting says who the launcher is', async () => {
    const other = new Launcher(command);
    const guest = await other.connect({ hello: false });
    const [hello] = guest.answers;
    assert.equal(hello?.kind, 'hello');
    assert.deepEqual(hello, {
      kind: 'hello',
      version: LAUNCHER_VERSION,
      pid: other.process.pid,
      startTicks: ticksOf(other.process.pid ?? 0),
      uid: process.geteuid?.(),
    });
    assert.equal(statSync(other.path).mode & 0o777, 0o600);
    await other.end();
  });

  test('another version is refused with both versions', async () => {
    const other = new Launcher(command);
    const guest = await other.connect({ hello: false });
    guest.ask((writer) => writer.hello(7));
    assert.match((await guest.answer('error')).text, /version 1\b.*\b7\b/);
    await guest.closing();
    await other.end();
  });

  test('a request before the hello is refused', async () => {
    const other = new Launcher(command);
    const guest = await other.connect({ hello: false });
    guest.ask((writer) => writer.list());
    assert.match((await guest.answer('error')).text, /hello/);
    await guest.closing();
    await other.end();
  });

  test('a program is started in a session of its own and its exit code reported', async () => {
    const flag = join(launcher.folder, 'may-end');
    const argv = shell('until [ -e "$1" ]; do sleep 0.01; done; exit 7', flag);
    agent.spawn({ id: ++id, argv });
    const { pid, startTicks, startedAt } = await agent.answer('started', id);
    const record = (await agent.list()).find((one) => one.id === id);
    assert.deepEqual(statOf(pid), { session: pid, startTicks: record?.startTicks });
    assert.ok(startTicks === 0 || startTicks === record?.startTicks);
    writeFileSync(flag, '');
    assert.ok(Math.abs(Date.now() - startedAt) < 60_000);
    const exited = await agent.answer('exited', id);
    assert.equal(exited.status, 7 << 8);
    assert.ok(exited.endedAt >= startedAt);
    assert.equal(exited.rssPeakKib > 0, has('usage'));
  });

  test('cpu time is reported where it can be known', async () => {
    const script = 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done';
    agent.spawn({ id: ++id, argv: shell(script) });
    const { userUs, systemUs } = await agent.answer('exited', id);
    assert.equal(userUs + systemUs > 10_000, has('usage'));
  });

  test('a program is bound to the cpus that its environment names, where there are such', async () => {
    const script = 'echo "$WEFT_CPUSET $(grep Cpus_allowed_list /proc/self/status)"';
    const bound = (cpuset: string, mark = 'WEFT_LAUNCH=x'): Promise<string> => {
      const environment = [`PATH=${PATH}`, `WEFT_CPUSET=${cpuset}`, mark];
      return outputOf({ id: ++id, argv: shell(script), environment });
    };
    const all = readFileSync('/proc/self/status', 'utf8').match(/Cpus_allowed_list:\t(.*)/)?.[1];
    const one = String(parseCpuList(all ?? '').at(-1));
    assert.equal(await bound(`${one},1000`), `${one},1000 Cpus_allowed_list:\t${one}\n`);
    assert.equal(await bound('1000-1010'), ` Cpus_allowed_list:\t${all}\n`);
    assert.equal(await bound('x'), ` Cpus_allowed_list:\t${all}\n`);
    // A step: it binds itself.
    assert.equal(await bound(one, 'A=1'), `${one} Cpus_allowed_list:\t${all}\n`);
  });

  test('death by a signal is reported as that signal', async () => {
    assert.equal(await agent.run({ id: ++id, argv: shell('kill -9 $$') }), SIGKILL);
    // SIGSTKFLT: scripts of batches tell by it that a build has failed.
    assert.equal(await agent.run({ id: ++id, argv: shell('kill -16 $$') }), 16);
    const unnamed = await agent.run({ id: ++id, argv: shell('kill -63 $$') });
    assert.equal(unnamed, has('unnamed signals') ? 63 : 0);
  });

  test('a start that is asked for again starts nothing and answers with the record', async () => {
    const mark = join(launcher.folder, 'once');
    const argv = shell('echo x >>"$1"; sleep 60', mark);
    agent.spawn({ id: ++id, argv });
    const { pid } = await agent.answer('started', id);
    agent.spawn({ id, argv });
    assert.equal((await agent.answer('record')).pid, pid);
    await until('its line', () => existsSync(mark) && readFileSync(mark, 'utf8') !== '');
    await agent.signal(id, SIGKILL);
    assert.equal((await agent.answer('exited', id)).status, SIGKILL);
    agent.spawn({ id, argv });
    assert.equal((await agent.answer('record')).status, SIGKILL);
    assert.equal(readFileSync(mark, 'utf8'), 'x\n');
  });

  test('what cannot be started says why and at which stage', async () => {
    const here = launcher.folder;
    writeFileSync(join(here, 'plain'), 'data');
    writeFileSync(join(here, 'secret'), '');
    symlinkSync(join(here, 'secret'), join(here, 'link'));
    assert.deepEqual(await failure({ id: ++id, argv: ['/no/such'] }), [ENOENT, STAGE.exec]);
    assert.deepEqual(await failure({ id: ++id, argv: ['no-such'] }), [ENOENT, STAGE.exec]);
    assert.deepEqual(await failure({ id: ++id, argv: [join(here, 'plain')] }), [
      EACCES,
      STAGE.exec,
    ]);
    const argv = ['/bin/true'];
    assert.deepEqual(await failure({ id: ++id, argv, cwd: '/no/such' }), [ENOENT, STAGE.chdir]);
    assert.deepEqual(await failure({ id: ++id, argv, cwd: join(here, 'plain') }), [
      ENOTDIR,
      STAGE.chdir,
    ]);
    assert.deepEqual(await failure({ id: ++id, argv, stdin: '/no/in' }), [ENOENT, STAGE.stdin]);
    assert.deepEqual(await failure({ id: ++id, argv, stdout: '/no/out' }), [ENOENT, STAGE.stdout]);
    const [, stage] = await failure({ id: ++id, argv, stdout: join(here, 'link') });
    assert.equal(stage, STAGE.stdout);
    assert.deepEqual(await failure({ id: ++id, argv, cgroupProcs: ['/no/cgroup.procs'] }), [
      ENOENT,
      STAGE.cgroup,
    ]);
    const [last] = (await agent.list()).filter((record) => record.id === id);
    assert.deepEqual([last?.state, last?.status, last?.stage], [4, ENOENT, STAGE.cgroup]);
  });

  test('output is truncated or appended, and one path is one open file', async () => {
    const stdout = join(launcher.folder, 'shared');
    const argv = shell('echo out; echo err >&2; echo out2');
    await agent.run({ id: ++id, argv, stdout, stderr: stdout });
    assert.equal(readFileSync(stdout, 'utf8'), 'out\nerr\nout2\n');
    assert.equal(statSync(stdout).mode & 0o777, 0o600);
    await agent.run({ id: ++id, argv, stdout, stderr: stdout, append: true });
    assert.equal(readFileSync(stdout, 'utf8'), 'out\nerr\nout2\n'.repeat(2));
    const stderr = join(launcher.folder, 'separate');
    await agent.run({ id: ++id, argv, stdout, stderr, byUmask: true, umask: 0o002 });
    assert.equal(readFileSync(stdout, 'utf8'), 'out\nout2\n');
    assert.equal(readFileSync(stderr, 'utf8'), 'err\n');
    assert.equal(statSync(stderr).mode & 0o777, 0o664);
  });

  test('an output that is empty is not cut: ext4 would send it to the disk when it is closed', async () => {
    const stdout = join(launcher.folder, 'empty');
    writeFileSync(stdout, '');
    utimesSync(stdout, 1, 1);
    await agent.run({ id: ++id, argv: ['true'], stdout, stderr: stdout });
    assert.equal(statSync(stdout).mtimeMs, 1000);
    await agent.run({ id: ++id, argv: shell('echo out'), stdout, stderr: stdout });
    assert.equal(readFileSync(stdout, 'utf8'), 'out\n');
  });

  test('standard input is the file asked for, or empty', async () => {
    const stdin = join(launcher.folder, 'input');
    writeFileSync(stdin, 'some input');
    assert.equal(await outputOf({ id: ++id, argv: ['cat'], stdin }), 'some input');
    assert.equal(await outputOf({ id: ++id, argv: ['cat'] }), '');
  });

  test('no variable of a user reaches what runs before it is the user', needsRoot, async () => {
    const folder = subfolder(launcher.folder, 'before');
    chmodSync(folder, 0o777);
    const note = `#!/bin/sh\nid -u >>${folder}/who\n`;
    for (const name of ['renice', 'taskset', 'prlimit', 'setpriv', 'sh', 'id-of-who']) {
      writeFileSync(join(folder, name), note, { mode: 0o755 });
    }
    const marks = ['WEFT_LAUNCH=before', 'WEFT_CPUSET=0'];
    const own = [`PATH=${folder}:/usr/bin:/bin`, `LD_PRELOAD=${folder}/none.so`, ...marks];
    const setIds = { uid: NOBODY, gid: NOBODY, groups: [] };
    await agent.run({ id: ++id, argv: ['id-of-who'], setIds, environment: own, nice: 1 });
    assert.equal(readFileSync(join(folder, 'who'), 'utf8'), `${NOBODY}\n`);
  });

  test('a variable may have any name and any text', async () => {
    const odd = ['a.b=1', 'IFS=,', 'UID=7', 'w_e0=mine', 'mode=fast', 'PS4=x', 'L=one\ntwo', 'E='];
    const argv = shell("tr '\\0' '|' </proc/self/environ");
    const said = (await outputOf({ id: ++id, argv, environment: [PATH, ...odd] })).split('|');
    assert.deepEqual(
      odd.filter((entry) => !said.includes(entry)),
      [],
    );
    assert.deepEqual(
      said.filter((entry) => entry.startsWith('w_')),
      ['w_e0=mine'],
    );
  });

  test('the environment is the one given', async () => {
    const environment = [PATH, 'A=1', 'B=two words', 'EMPTY=', 'C=x=y'];
    const lines = (await outputOf({ id: ++id, argv: ['env'], environment })).trim().split('\n');
    const added = lines.filter((line) => !environment.includes(line));
    assert.equal(lines.length - added.length, environment.length);
    const names = added.map((line) => line.split('=')[0]);
    if (has('exact environment')) assert.deepEqual(names, []);
    else
      assert.ok(
        names.every((name) => ['PWD', 'SHLVL', '_'].includes(name ?? '')),
        names.join(),
      );
  });

  test('arguments arrive byte for byte', async () => {
    const texts = ['', ' ', 'a b', 'q\'"`$(x)', 'new\nline', '-n', '--', 'größe 🧵', '*'];
    const expected = texts.map((text) => `${text}\0`).join('');
    const argv = ['/usr/bin/printf', '%s\\0', ...texts];
    assert.equal(await outputOf({ id: ++id, argv }), expected);
    const bytes = Uint8Array.of(0xff, 0xfe, 0x01, 0x80);
    const stdout = join(launcher.folder, 'bytes');
    await agent.run({ id: ++id, argv: ['printf', '%s', bytes], stdout });
    assert.equal(Buffer.compare(readFileSync(stdout), bytes) === 0, has('odd bytes'));
  });

  test('a script without an interpreter line is run by the shell', async () => {
    const path = join(launcher.folder, 'script');
    writeFileSync(path, 'echo ran "$1"\n');
    chmodSync(path, 0o755);
    assert.equal(await outputOf({ id: ++id, argv: [path, 'here'] }), 'ran here\n');
  });

  test('umask, nice, limits and working directory are as asked', async () => {
    const NOFILE = 7;
    const NPROC = 6;
    const cwd = subfolder(launcher.folder, 'cwd');
    const text = await outputOf({
      id: ++id,
      argv: shell('umask; ulimit -Sn; ulimit -Hn; nice; pwd'),
      umask: 0o077,
      nice: 5,
      limits: [
        { resource: NOFILE, soft: 50, hard: 60 },
        { resource: NPROC, soft: Infinity, hard: Infinity },
      ],
      cwd,
    });
    assert.equal(text, `0077\n50\n60\n5\n${cwd}\n`);
  });

  test('a launcher of an ordinary user that runs nicely starts programs', needsRoot, async () => {
    const alone = ['setpriv', `--reuid=${LONER}`, `--regid=${LONER}`, '--clear-groups'];
    const other = new Launcher([...alone, 'nice', '-n', '3', ...command], [], LONER);
    const stdout = join(other.folder, 'niceness');
    const guest = await other.connect();
    assert.equal(await guest.run({ id: 1, argv: ['nice'], stdout }), 0);
    assert.ok(Number(readFileSync(stdout, 'utf8')) >= 3);
    await other.end();
  });

  test('signals and descriptors start clean', async () => {
    const script = 'grep -E "^Sig(Blk|Ign)" /proc/self/status; ls /proc/self/fd | wc -l';
    const [blocked, ignored, open] = (await outputOf({ id: ++id, argv: shell(script) }))
      .trim()
      .split('\n');
    assert.match(blocked ?? '', /:\t0+$/);
    assert.match(ignored ?? '', /:\t0+$/);
    const OPEN = 4; // three, and the one that ls reads the folder with
    assert.ok(has('closed descriptors') ? Number(open) === OPEN : Number(open) >= OPEN, open);
  });

  test('a program runs as another user with the groups asked for', needsRoot, async () => {
    const cwd = subfolder(launcher.folder, 'theirs', NOBODY);
    const stdout = join(cwd, 'out');
    const setIds = { uid: NOBODY, gid: 1234, groups: [1234, 4321] };
    await agent.run({ id: ++id, argv: shell('id -u; id -g; id -G'), setIds, cwd, stdout });
    assert.equal(readFileSync(stdout, 'utf8'), `${NOBODY}\n1234\n1234 4321\n`);
    assert.deepEqual([statSync(stdout).uid, statSync(stdout).gid], [NOBODY, 1234]);
    const mine = join(launcher.folder, 'not-theirs');
    assert.deepEqual(await failure({ id: ++id, argv: ['true'], setIds, stdout: mine }), [
      has('usage') ? EACCES : ENOENT, // the fallback looks as root at why the user could not
      STAGE.stdout,
    ]);
    assert.equal(existsSync(mine), false);
  });

  test('a cgroup is joined before the program starts', needsCgroups, async () => {
    const group = subfolder(cgroupRoot ?? '', `weft-launcher-${process.pid}`);
    const setIds = { uid: NOBODY, gid: NOBODY, groups: [] };
    const stdout = join(subfolder(launcher.folder, 'grouped', NOBODY), 'out');
    const cgroupProcs = [join(group, 'cgroup.procs')];
    await agent.run({ id: ++id, argv: ['cat', '/proc/self/cgroup'], setIds, cgroupProcs, stdout });
    await until('the group to be empty', () => spawnSync('rmdir', [group]).status === 0);
    assert.match(readFileSync(stdout, 'utf8'), /^0::.*weft-launcher-/m);
  });

  test('a new connection replaces the old one and learns of everything', async () => {
    const other = new Launcher(command);
    const first = await other.connect();
    first.spawn({ id: 1, argv: ['sleep', '60'] });
    first.spawn({ id: 2, argv: ['false'] });
    const { pid } = await first.answer('started', 1);
    await first.answer('exited', 2);
    const second = await other.connect();
    await first.closing();
    const records = new Map((await second.list()).map((record) => [record.id, record]));
    assert.deepEqual([...records.keys()].sort(), [1, 2]);
    assert.deepEqual([records.get(1)?.state, records.get(1)?.pid], [1, pid]);
    assert.deepEqual([records.get(2)?.state, records.get(2)?.status], [3, 1 << 8]);
    assert.equal(records.get(1)?.startTicks, ticksOf(pid));
    await second.signal(1, SIGTERM);
    assert.equal((await second.answer('exited', 1)).status, SIGTERM);
    await other.end();
  });

  test('exits without an agent are kept for the next one', async () => {
    const other = new Launcher(command);
    const first = await other.connect();
    const flag = join(other.folder, 'go');
    const argv = shell('until [ -e "$1" ]; do sleep 0.01; done; exit 3', flag);
    first.spawn({ id: 1, argv });
    const { pid } = await first.answer('started', 1);
    first.socket.destroy();
    writeFileSync(flag, '');
    await until('its end', () => !isAlive(pid));
    const second = await other.connect();
    const [record] = await second.list();
    if (record?.state !== 3) await second.answer('exited', 1);
    const [settled] = await second.list();
    assert.deepEqual([settled?.state, settled?.status], [3, 3 << 8]);
    await other.end();
  });

  test('the end of a process outlives a launcher that is killed before anybody heard of it', async () => {
    const other = new Launcher(command);
    const first = await other.connect();
    const from = Date.now();
    first.spawn({ id: 7, argv: shell('exit 3') });
    first.spawn({ id: 8, argv: shell('kill -9 $$') });
    first.spawn({ id: 9, argv: ['/bin/true'] });
    for (const id of [7, 8, 9]) await first.answer('exited', id);
    first.ask((writer) => writer.forget(9));
    await until('its record to go', async () => (await first.list()).length === 2);
    const another = flavour === 'node' ? flavours.c(other.folder) : flavours.node();
    for (const next of [command, another, command]) {
      await other.killAndReplace(next);
      const records = await (await other.connect()).list();
      const known = records.sort((a, b) => a.id - b.id);
      assert.deepEqual(
        known.map(({ id, state, status }) => [id, state, status]),
        [
          [7, 3, 3 << 8],
          [8, 3, SIGKILL],
        ],
      );
      assert.ok(known.every(({ endedAt }) => endedAt >= from && endedAt <= Date.now()));
      const secret = readFileSync(`${other.path}.lock`, 'latin1');
      const owner = ownerIn(readFileSync(`${ENDS_PREFIX}${secret}`));
      assert.deepEqual(owner, { mounts: mountNamespace(), socketPath: other.path });
    }
    const last = await other.connect();
    for (const id of [7, 8]) last.ask((writer) => writer.forget(id));
    await until('the records to go', async () => (await last.list()).length === 0);
    await other.killAndReplace(command);
    assert.deepEqual(await (await other.connect()).list(), []);
    await other.end();
  });

  test('what a shutdown kills is not noted as ended by itself', async () => {
    const other = new Launcher(command);
    const first = await other.connect();
    first.spawn({ id: 1, argv: ['/bin/sleep', '60'] });
    await first.answer('started', 1);
    first.ask((writer) => writer.shutdown());
    await until('the launcher to leave', () => other.process.exitCode !== null);
    await other.killAndReplace(command);
    assert.deepEqual(await (await other.connect()).list(), []);
    await other.end();
  });

  test('a signal reaches children that left the session, also after the main one ended', async () => {
    const pids = join(launcher.folder, 'escaped');
    // Each writes its pid: in a session of its own, and with its parent gone.
    const script =
      '(setsid sh -c \'echo $$ >>"$1"; sleep 60 & echo $! >>"$1"; exec sleep 60\' sh "$1" &) ; ' +
      'sleep 60 & echo $! >>"$1"; exec sleep 60';
    const environment = [PATH, `WEFT_LAUNCH=test-${process.pid}-${flavour}`];
    agent.spawn({ id: ++id, argv: shell(script, pids), environment });
    const { pid: main } = await agent.answer('started', id);
    const all = await until('three pids', () => pidsIn(pids, 3));
    await until('all to be sleeps', () => [main, ...all].every((pid) => runs(pid, 'sleep')));
    assert.equal(await agent.leftovers(id), 4);
    process.kill(main, 'SIGKILL');
    await agent.answer('exited', id);
    assert.equal(await agent.leftovers(id), 3);
    assert.equal(await agent.signal(id, SIGKILL), 3);
    await until('all to be gone', () => all.every((pid) => !isAlive(pid)));
    assert.equal(await agent.leftovers(id), 0);
  });

  test('a signal for the process alone, and for all others, reaches these', async () => {
    await until('it says that it knows them', () => agent.knowsScopes);
    const pids = join(launcher.folder, 'scopes');
    // The second is named as what passes signals on itself.
    const script =
      'sleep 60 & echo $! >>"$1"; sh -c \'printf weft-srun >/proc/$$/comm; echo $$ >>"$1"; ' +
      'while :; do sleep 0.1; done\' sh "$1" & exec sleep 60';
    agent.spawn({ id: ++id, argv: shell(script, pids), environment: [PATH] });
    const { pid: main } = await agent.answer('started', id);
    await until('two pids', () => pidsIn(pids, 2));
    await until('it to be a sleep', () => runs(main, 'sleep'));
    const named = (pid: number) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
    const all = await until('two pids', () => pidsIn(pids, 2));
    const passing = all.find((pid) => named(pid) === 'weft-srun') ?? 0;
    const other = all.find((pid) => pid !== passing) ?? 0;
    await agent.signal(id, constants.signals.SIGUSR1, 'others');
    await until('the other to be gone', () => !isAlive(other));
    assert.deepEqual([isAlive(main), isAlive(passing)], [true, true]);
    assert.equal(await agent.signal(id, SIGTERM, 'main'), 1);
    await agent.answer('exited', id);
    assert.equal(isAlive(passing), true);
    await agent.signal(id, SIGKILL);
    await until('all to be gone', () => !isAlive(passing));
  });

  test("what is left behind is counted also in the middle of an exec, and no other record's is", async () => {
    const script = join(launcher.folder, 'again-and-again');
    // No longer than this test either, which may be ended by a signal.
    const goesOn = `[ -e "$0.go" ] && [ -e /proc/${process.pid} ] || exit 0`;
    writeFileSync(script, `${goesOn}; exec /bin/sh "$0"\n`);
    writeFileSync(`${script}.go`, '');
    const environment = [PATH, `WEFT_LAUNCH=again-${process.pid}-${flavour}`];
    // It runs all the time and never leaves its session: it is its own record's alone.
    const again = shell('exec sh "$1"', script);
    agent.spawn({ id: ++id, argv: again, environment: [PATH, 'WEFT_LAUNCH=other'] });
    await agent.answer('started', id);
    await agent.run({ id: ++id, argv: shell('setsid sh "$1" &', script), environment });
    const counts = new Set<number>();
    for (let looks = 0; looks < 60; looks += 1) counts.add(await agent.leftovers(id));
    rmSync(`${script}.go`);
    assert.deepEqual([...counts], [1]);
    await agent.answer('exited', id - 1);
    await until('its end', async () => (await agent.leftovers(id)) === 0);
  });

  test("who has let go of where his environment was is not taken for another's leftover", async () => {
    const said = join(launcher.folder, 'let-go');
    const argv = [
      'sh',
      '-c',
      'setsid perl -e "$1" "$2" > "$0" &',
      said,
      LETS_GO,
      'x'.repeat(16384),
    ];
    const environment = [PATH, `WEFT_LAUNCH=gone-${process.pid}-${flavour}`];
    await agent.run({ id: ++id, argv, environment });
    const [pid = 0] = await until('it to have done so', () => pidsIn(said, 1));
    assert.equal(readFileSync(`/proc/${pid}/environ`, 'utf8'), '');
    const other = [PATH, `WEFT_LAUNCH=else-${process.pid}-${flavour}`];
    await agent.run({ id: ++id, argv: ['true'], environment: other });
    assert.equal(await agent.leftovers(id), 0);
    process.kill(pid, SIGKILL);
  });

  test('another process of the launcher is not reached', async () => {
    agent.spawn({ id: ++id, argv: ['sleep', '60'] });
    const { pid } = await agent.answer('started', id);
    agent.spawn({ id: ++id, argv: ['sleep', '60'] });
    await agent.answer('started', id);
    assert.equal(await agent.signal(id, SIGKILL), 1);
    await agent.answer('exited', id);
    assert.ok(isAlive(pid));
    await agent.signal(id - 1, SIGKILL);
  });

  test('who forks while it is stopped leaves nobody behind that goes on', async () => {
    const forks = 'while :; do sleep 600 & sleep 600 & done';
    for (let turn = 0; turn < 3; turn += 1) {
      agent.spawn({ id: ++id, argv: shell(forks) });
      const { pid } = await agent.answer('started', id);
      const states = () => statesIn(pid);
      await until('it to fork', () => states().length > 20 || undefined);
      await agent.signal(id, SIGSTOP);
      await agent.answer('stopped', id);
      // A signal takes a moment to take effect; who was not sent it sleeps on for ten minutes.
      const goesOn = (state: string) => !'TDZX'.includes(state);
      await until('nobody to go on', () => !states().some(goesOn) || undefined);
      await agent.signal(id, SIGKILL);
      await agent.answer('exited', id);
    }
  });

  test('a process that stops itself at once is told as stopped', async () => {
    const from = id + 1;
    id += 60;
    agent.ask((writer) => {
      for (let next = from; next <= id; next++) {
        writer.spawn(frameOf({ id: next, argv: shell('kill -STOP $$') }));
        if (next > from) writer.leftovers(next - 1);
      }
    });
    for (let next = from; next <= id; next++) await agent.answer('stopped', next);
    const stopped = (await agent.list()).filter((record) => record.id >= from);
    assert.deepEqual(new Set(stopped.map(({ state }) => state)), new Set([2]));
    for (let next = from; next <= id; next++) {
      await agent.signal(next, SIGKILL);
      await agent.answer('exited', next);
    }
  });

  test('a stopped process is stopped and continued, not ended', async () => {
    agent.spawn({ id: ++id, argv: ['sleep', '60'] });
    await agent.answer('started', id);
    await agent.signal(id, SIGSTOP);
    await agent.answer('stopped', id);
    assert.equal((await agent.list()).find((record) => record.id === id)?.state, 2);
    await agent.signal(id, SIGCONT);
    await agent.answer('continued', id);
    await agent.signal(id, SIGKILL);
    assert.equal((await agent.answer('exited', id)).status, SIGKILL);
  });

  const needsOrphans = has('orphans') ? {} : { skip: 'orphans go to init; see LACKS' };
  test('orphans are adopted and reaped', needsOrphans, async () => {
    const pidFile = join(launcher.folder, 'orphan');
    await agent.run({ id: ++id, argv: shell('(sleep 0.05 & echo $! >"$1")', pidFile) });
    const pid = Number(readFileSync(pidFile, 'utf8'));
    await until('the orphan to be reaped', () => !existsSync(`/proc/${pid}`));
    assert.equal(await agent.leftovers(id), 0);
  });

  test('a forgotten record is gone, a live one stays', async () => {
    agent.spawn({ id: ++id, argv: ['sleep', '60'] });
    await agent.answer('started', id);
    agent.ask((writer) => writer.forget(id));
    assert.equal((await agent.answer('error', id)).code, 5);
    await agent.signal(id, SIGKILL);
    await agent.answer('exited', id);
    agent.ask((writer) => writer.forget(id));
    assert.equal(
      (await agent.list()).some((record) => record.id === id),
      false,
    );
    agent.ask((writer) => writer.leftovers(id));
    assert.equal((await agent.answer('error', id)).code, 4);
  });

  test('a start that hangs holds up nothing and can be killed', needsFuse, async () => {
    const folder = newFolder();
    const dead = subfolder(folder, 'dead');
    const holder = join(folder, 'holder');
    const inside = ['unshare', '-m', 'sh', '-c', HANGING, 'sh', dead, holder];
    const other = new Launcher([...inside, ...command]);
    const guest = await other.connect();
    try {
      const mortal = ['setpriv', '--pdeathsig', 'KILL', 'sleep', '600'];
      for (let next = 41; next <= 48; next += 1) {
        guest.spawn({ id: next, argv: mortal });
        await guest.answer('started', next);
      }
      guest.spawn({ id: 1, argv: ['true'], cwd: join(dead, 'x') });
      guest.spawn({ id: 2, argv: ['true'], stdout: join(dead, 'out') });
      guest.spawn({ id: 3, argv: [join(dead, 'program')] });
      for (let next = 4; next < 30; next += 1) {
        assert.equal(await guest.run({ id: next, argv: shell('exit 3') }), 3 << 8);
      }
      const states = (await guest.list()).slice().sort((a, b) => a.id - b.id);
      const LAUNCHING = 5;
      assert.deepEqual(
        states.slice(0, 3).map(({ state }) => state),
        [LAUNCHING, LAUNCHING, LAUNCHING],
      );
      guest.spawn({ id: 1, argv: ['true'] });
      assert.equal((await guest.answer('record')).state, LAUNCHING);
      // All first: who waits for another one's lock in the kernel dies after that one only.
      for (const hung of [1, 2, 3]) assert.ok((await guest.signal(hung, SIGKILL)) > 0);
      for (const hung of [1, 2, 3]) {
        assert.equal((await guest.answer('exited', hung)).status, SIGKILL);
        assert.equal(await guest.leftovers(hung), 0);
        guest.ask((writer) => writer.forget(hung));
      }
      assert.equal(await guest.run({ id: 31, argv: ['true'] }), 0);
      const records = await guest.list();
      assert.equal(records.length, 27 + 8);
      // No thread has ended that was the parent of these.
      assert.equal(records.filter(({ state }) => state === 1).length, 8);
    } finally {
      process.kill(Number(readFileSync(holder, 'utf8')), 'SIGKILL');
      await other.end();
      rmSync(folder, { recursive: true });
    }
  });

  test('the folders above output files are made when asked for, as the user', async () => {
    const folder = subfolder(launcher.folder, 'made', isRoot ? NOBODY : undefined);
    const stdout = join(folder, 'a/b/out');
    const stderr = join(folder, 'a/c/err');
    const argv = shell('echo out; echo err >&2');
    const setIds = isRoot ? { uid: NOBODY, gid: NOBODY, groups: [] } : null;
    const frame = { argv, stdout, stderr, setIds, umask: 0o027 };
    assert.equal((await failure({ id: ++id, ...frame }))[1], STAGE.stdout);
    assert.equal(existsSync(join(folder, 'a')), false);
    assert.equal(await agent.run({ id: ++id, ...frame, makeParents: true }), 0);
    assert.equal(readFileSync(stdout, 'utf8') + readFileSync(stderr, 'utf8'), 'out\nerr\n');
    const made = statSync(join(folder, 'a/b'));
    assert.equal(made.mode & 0o777, 0o750);
    if (isRoot) assert.equal(made.uid, NOBODY);
    writeFileSync(join(folder, 'file'), '');
    const below = { ...frame, makeParents: true, stdout: join(folder, 'file/x/out') };
    assert.equal((await failure({ id: ++id, ...below }))[1], STAGE.stdout);
  });

  /**
   * Tells the launcher of the head again and again; the function ends it and says when it was last.
   */
  const renewing = (guest: Agent): (() => number) => {
    let heardAt = 0;
    const renew = (): void => {
      heardAt = monotonic();
      guest.ask((writer) => writer.heard(heardAt));
    };
    renew();
    const timer = setInterval(renew, 50);
    guest.socket.once('close', () => clearInterval(timer));
    return () => {
      clearInterval(timer);
      return heardAt;
    };
  };

  test('a lease that nobody renews ends everything, whoever is connected', async () => {
    const other = new Launcher(command);
    const first = await other.connect();
    const pids = join(other.folder, 'leased-pids');
    const script =
      '(setsid sleep 600 & echo $! >>"$1") ; sleep 600 & echo $! >>"$1"; exec sleep 600';
    const leaseMs = 2000;
    const environment = [PATH, `WEFT_LAUNCH=leased-${process.pid}-${flavour}`];
    const stopRenewing = renewing(first);
    first.spawn({ id: 1, argv: shell(script, pids), environment, leaseMs });
    first.spawn({ id: 2, argv: ['sleep', '600'] });
    const { pid } = await first.answer('started', 1);
    const { pid: free } = await first.answer('started', 2);
    const children = await until('two children', () => pidsIn(pids, 2));
    await elapsed(1.5 * leaseMs);
    assert.ok(isAlive(pid), 'alive while it is renewed');
    const heardAt = stopRenewing();
    first.ask((writer) => writer.heard(heardAt - 1000)); // late on its way: takes nothing back
    await first.list();
    first.socket.destroy();
    await until('the leased ones to be gone', () => ![pid, ...children].some(isAlive));
    assert.ok(monotonic() - heardAt > leaseMs - 5, 'not before its time');
    assert.ok(isAlive(free));
    const second = await other.connect();
    const records = (await second.list()).slice().sort((a, b) => a.id - b.id);
    assert.deepEqual(
      records.map(({ state, status, why }) => [state, status, why]),
      [
        [3, SIGKILL, LEASE_OVER],
        [1, 0, 0],
      ],
    );
    second.spawn({ id: 3, argv: ['true'], leaseMs });
    const late = await second.answer('failed', 3);
    assert.deepEqual([late.errno, late.stage], [ETIME, STAGE.lease]);
    await other.end();
  });

  test('[N9] a launcher that stood still reads what it was told of the head before it ends leases', async () => {
    const other = new Launcher(command);
    const guest = await other.connect();
    const leaseMs = 2000;
    const stopRenewing = renewing(guest);
    guest.spawn({ id: 1, argv: ['sleep', '600'], leaseMs });
    const { pid } = await guest.answer('started', 1);
    other.process.kill('SIGSTOP');
    await elapsed(1.5 * leaseMs);
    other.process.kill('SIGCONT');
    await guest.list();
    await elapsed(leaseMs / 3);
    assert.ok(isAlive(pid));
    stopRenewing();
    await other.end();
  });

  test('what a leased process left behind is ended as well', async () => {
    const other = new Launcher(command);
    const first = await other.connect();
    const file = join(other.folder, 'left');
    const environment = [PATH, `WEFT_LAUNCH=left-${process.pid}-${flavour}`];
    const stopRenewing = renewing(first);
    const argv = shell('sleep 600 & echo $! >"$1"', file);
    first.spawn({ id: 1, argv, environment, leaseMs: 1500 });
    const { status, why } = await first.answer('exited', 1);
    stopRenewing();
    assert.deepEqual([status, why], [0, 0]);
    const left = Number(readFileSync(file, 'utf8'));
    await until('it to be gone', () => !isAlive(left));
    const [record] = await first.list();
    assert.deepEqual([record?.status, record?.why], [0, 0]);
    await other.end();
  });

  test('without a word of the head nothing is leased', async () => {
    const other = new Launcher(command);
    const guest = await other.connect();
    guest.spawn({ id: 1, argv: ['true'], leaseMs: 60_000 });
    assert.equal((await guest.answer('failed', 1)).stage, STAGE.lease);
    await other.end();
  });

  test('a shutdown ends what was asked for in the same breath', async () => {
    const other = new Launcher(command);
    const guest = await other.connect();
    const mark = `breath-${process.pid}-${flavour}`;
    const environment = [PATH, `WEFT_LAUNCH=${mark}`];
    const ended = once(other.process, 'exit');
    guest.ask((writer) => {
      for (let next = 1; next <= 20; next++) {
        writer.spawn(frameOf({ id: next, argv: ['sleep', '600'], environment }));
      }
      writer.shutdown();
      writer.spawn(frameOf({ id: 21, argv: ['sleep', '600'], environment }));
    });
    assert.deepEqual(await ended, [0, null]);
    await until('nobody to be left', () => carriersOf(mark).length === 0);
    await other.end();
  });

  test('a shutdown ends what lives, and the launcher', async () => {
    const other = new Launcher(command);
    const guest = await other.connect();
    guest.spawn({ id: 1, argv: ['sleep', '60'] });
    const { pid } = await guest.answer('started', 1);
    const ended = once(other.process, 'exit');
    guest.ask((writer) => writer.shutdown());
    assert.deepEqual(await ended, [0, null]);
    await until('its process to be gone', () => !isAlive(pid));
    assert.equal(existsSync(other.path), false);
    await other.end();
  });

  test('a shutdown spares strangers whose parents are hidden', needsHiding, async () => {
    const alone = ['setpriv', `--reuid=${LONER}`, `--regid=${LONER}`, '--clear-groups'];
    const hidden = 'mount -t proc -o hidepid=2 proc /proc && exec "$@"';
    const enter = ['unshare', '-m', 'sh', '-c', hidden, 'sh', ...alone];
    const other = new Launcher([...enter, ...command], [], LONER);
    const stranger = spawn('sleep', ['60'], { uid: LONER, gid: LONER });
    try {
      const guest = await other.connect();
      guest.spawn({ id: 1, argv: shell('setsid sleep 60 & exec sleep 60') });
      const { pid } = await guest.answer('started', 1);
      const ended = once(other.process, 'exit');
      guest.ask((writer) => writer.shutdown());
      await ended;
      await until('its process to be gone', () => !isAlive(pid));
      assert.ok(isAlive(stranger.pid ?? 0));
    } finally {
      stranger.kill('SIGKILL');
      await other.end();
    }
  });

  test('a launcher with nothing to do leaves', async () => {
    const other = new Launcher(command, ['--idle-exit', '1']);
    const ended = once(other.process, 'exit');
    await until('its socket', () => existsSync(other.path) || other.process.exitCode !== null);
    const guest = connect(other.path, () => guest.destroy());
    // On a busy machine its second may be over before it lets us in; then it leaves all the same.
    guest.on('error', () => guest.destroy());
    assert.deepEqual(await ended, [0, null]);
    await other.end();
  });

  test('a second launcher on the same path is refused, a stale socket replaced', async () => {
    const second = spawnLauncher(command, ['--socket', launcher.path]);
    assert.deepEqual(await once(second, 'exit'), [3, null]);
    assert.ok(Array.isArray(await agent.list()), 'the first still serves its agent');
    const other = new Launcher(command);
    await other.connect();
    const killed = once(other.process, 'exit');
    other.process.kill('SIGKILL');
    await killed;
    assert.ok(existsSync(other.path));
    const third = spawnLauncher(command, ['--socket', other.path]);
    const guest = await other.connect();
    guest.ask((writer) => writer.shutdown());
    assert.deepEqual(await once(third, 'exit'), [0, null]);
    await other.end();
  });

  test('garbage is answered with an error and the launcher lives on', async () => {
    const other = new Launcher(command);
    const spawnBytes = bytesOf((writer) => writer.spawn(frameOf({ id: 1, argv: ['true'] })));
    const cases = [
      Buffer.from('GET / HTTP/1.1\r\n\r\n'),
      Buffer.from([0, 0, 0, 0]),
      Buffer.from([0x01, 0, 0x10, 0, 0x02]),
      Buffer.from([1, 0, 0, 0, 0x77]),
      Buffer.from([3, 0, 0, 0, 0x04, 1, 2]),
      // A shutdown that spares what lives: there is none.
      Buffer.from([5, 0, 0, 0, 0x06, 0, 0, 0, 0]),
      Buffer.concat([Buffer.from([30, 0, 0, 0]), spawnBytes.subarray(4, 34)]),
      bytesOf((writer) => writer.signal(1, 65)),
      withScope(0),
      withScope(4),
    ];
    for (const bytes of cases) {
      const guest = await other.connect();
      guest.socket.write(bytes);
      assert.equal((await guest.answer('error')).code, MALFORMED, bytes.toString('hex'));
      await guest.closing();
    }
    assert.equal(await (await other.connect()).run({ id: 2, argv: ['true'] }), 0);
    await other.end();
  });

  test('a frame that comes byte by byte, and the largest frame, are read', async () => {
    const bytes = bytesOf((writer) => writer.spawn(frameOf({ id: ++id, argv: ['true'] })));
    for (const byte of bytes) {
      agent.socket.write(Uint8Array.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal((await agent.answer('exited', id)).status, 0);
    const pieces = Array.from({ length: 20 }, (_, i) => `V${i}=${'x'.repeat(50_000)}`);
    const environment = [PATH, ...pieces];
    const length = await outputOf({ id: ++id, argv: shell('env | wc -c'), environment });
    assert.ok(Number(length) > 1_000_000, length);
  });

  test('many starts at once all start and all end', async () => {
    const count = flavour === 'c' ? 2000 : flavour === 'node' ? 100 : 500;
    const from = id + 1;
    id += count;
    agent.ask((writer) => {
      for (let i = 0; i < count; i++) {
        writer.spawn(frameOf({ id: from + i, argv: ['/bin/sh', '-c', `exit ${i % 200}`] }));
      }
    });
    const ends = await until(`${count} exits`, () => {
      const seen = agent.answers.filter((answer) => answer.kind === 'exited' && answer.id >= from);
      return seen.length >= count && seen;
    });
    assert.equal(ends.length, count);
    const started = new Set<number>();
    for (const answer of agent.answers) {
      if (answer.kind === 'started') started.add(answer.id);
      if (answer.kind !== 'exited' || answer.id < from) continue;
      assert.ok(started.has(answer.id), 'a start is told before its end');
      assert.equal(answer.status, ((answer.id - from) % 200) << 8);
    }
    agent.ask((writer) => {
      for (let i = 0; i < count; i++) writer.forget(from + i);
    });
    assert.equal((await agent.list()).filter((record) => record.id >= from).length, 0);
    if (has('reaped wait')) {
      await until('no zombies', () => zombiesOf(launcher.process.pid ?? 0).length === 0);
    }
  });

  test('what is asked in one breath with a start is about its process', async () => {
    const from = id + 1;
    id += 100;
    agent.ask((writer) => {
      for (let next = from; next <= id; next++) {
        writer.spawn(frameOf({ id: next, argv: ['sleep', '60'] }));
        writer.spawn(frameOf({ id: next, argv: ['sleep', '60'] }));
        writer.signal(next, SIGKILL);
      }
    });
    for (let next = from; next <= id; next++) {
      assert.ok((await agent.answer('signalled', next)).count > 0);
      assert.equal((await agent.answer('exited', next)).status, SIGKILL);
    }
    const records = agent.answers.filter((answer) => answer.kind === 'record');
    const again = records.filter((record) => record.id >= from);
    assert.equal(again.length, 100);
    for (const { state } of again) assert.ok([1, 5].includes(state), 'running or starting');
  });

  test('the client tells starts, ends and leftovers, and when the launcher is lost', async () => {
    const other = new Launcher(command);
    (await other.connect()).socket.destroy();
    const client = clientOf(other);
    assert.deepEqual(await client.port.adopt(), []);
    const launchId = 2 ** 40 + 1;
    client.port.start({ ...plain, launchId, argv: ['sh', '-c', 'exit 9'] });
    client.port.start({ ...plain, launchId: 2, argv: ['/no/such'] });
    client.port.start({ ...plain, launchId: 3, argv: ['nul\0'] });
    await until('four events', () => client.events.length === 4);
    const kinds = client.events.map((event) => `${event.kind} ${event.launchId}`).sort();
    assert.deepEqual(kinds, [`exited ${launchId}`, 'failed 2', 'failed 3', `started ${launchId}`]);
    const exited = client.events.find((event) => event.kind === 'exited');
    assert.deepEqual(exited?.kind === 'exited' && exited.exit, { code: 9 });
    assert.equal(await client.port.leftovers(launchId), 0);
    client.port.forget(launchId);
    assert.equal(await client.port.leftovers(launchId), 0);
    const again = (await client.port.adopt()).map(({ launchId: known, state }) => [known, state]);
    assert.deepEqual(again, [[2, 'ended']]);
    await other.end();
    await until('the loss to be told', () => client.lost);
    await assert.rejects(client.port.adopt());
  });
}

const plain = {
  ...PLAIN_LAUNCH,
  environment: [PATH],
  cwd: '/',
};

function clientOf(launcher: Launcher) {
  const socket = connect(launcher.path);
  const events: ProcessEvent[] = [];
  const port = new LauncherClient(
    {
      write: (bytes) => void socket.write(bytes),
      onData: (handler) => void socket.on('data', handler),
      onClose: (handler) => void socket.on('close', handler),
      close: () => socket.destroy(),
    },
    { onRefused: (why) => assert.fail(why) },
  );
  const seen = { port, events, lost: '' };
  port.onEvent((event) => events.push(event));
  port.onLost((why) => {
    seen.lost = why;
  });
  return seen;
}

/** Ms of CLOCK_MONOTONIC, as the agent's clock gives them. */
function monotonic(): number {
  return Number(process.hrtime.bigint()) / 1_000_000;
}

function elapsed(ms: number): Promise<unknown> {
  const from = monotonic();
  return until(`${ms} ms`, () => monotonic() - from >= ms);
}

/** A SIGNAL as no agent writes it. */
function withScope(scope: number): Buffer {
  const bytes = bytesOf((writer) => writer.signal(1, SIGKILL));
  bytes.writeUInt32LE(scope, bytes.length - 4);
  return bytes;
}

function bytesOf(write: Parameters<Agent['ask']>[0]): Buffer {
  const writer = new RequestWriter();
  write(writer);
  return Buffer.from(writer.take());
}

/** Pids that a script wrote, one a line; nothing before so many lines are whole. */
function pidsIn(file: string, count: number): number[] | undefined {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  return lines.length > count ? lines.slice(0, count).map(Number) : undefined;
}

function statOf(pid: number): { session: number; startTicks: number } {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { session: Number(fields[3]), startTicks: Number(fields[19]) };
}

function ticksOf(pid: number): number {
  return statOf(pid).startTicks;
}

/** State of each process of a session, as in proc(5). */
function statesIn(session: number): string[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const [state = '', , , of] =
        readFileSync(`/proc/${name}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
      return Number(of) === session ? [state] : [];
    } catch {
      return []; // It has just ended.
    }
  });
}

/** Whether it has become that program. In the middle of an exec it has no environment yet. */
function runs(pid: number, program: string): boolean {
  const has = (file: string): string => readFileSync(`/proc/${pid}/${file}`, 'latin1');
  return has('cmdline').startsWith(`${program}\0`) && has('environ') !== '';
}

/** A zombie is not alive: whoever should reap it may take a while. */
function isAlive(pid: number): boolean {
  const [state = 'X'] = stateOf(pid);
  return state !== 'Z' && state !== 'X';
}

/** State and parent of any process of the machine; nothing when it has gone meanwhile. */
function stateOf(pid: number): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ', 2);
  } catch {
    return [];
  }
}

function zombiesOf(parent: number): string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    const [state, parentPid] = stateOf(Number(name));
    return state === 'Z' && parentPid === String(parent);
  });
}

/** Pids of live processes whose environment has this WEFT_LAUNCH. */
function carriersOf(mark: string): string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/environ`, 'latin1').includes(`WEFT_LAUNCH=${mark}\0`);
    } catch {
      return false; // It ended meanwhile.
    }
  });
}
