// The packages with Node inside: the Debian one installed, used, installed again and purged by dpkg
// on a copy of this machine's file system; the tarball in somebody's home. Needs root.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { repository, runProgram, type Said } from './support/local-cluster.ts';

/**
 * What is written below the root stays in memory, and is gone with the last process; ports are its
 * own.
 */
const MACHINE = `set -e; ip link set lo up
mount -t tmpfs weft "$1"; mkdir "$1/up" "$1/work" "$1/all"
mount -t overlay -o lowerdir=/,upperdir="$1/up",workdir="$1/work" weft "$1/all"
mount --rbind /dev "$1/all/dev"; mount -t proc weft "$1/all/proc"
mount -t tmpfs -o mode=1777 weft "$1/all/tmp"; mkdir -p "$1/all/packages"
mount --bind "$2" "$1/all/packages"; shift 2
`;

/** What systemd does with the head's unit, as far as the commands of this test go. */
const SYSTEMCTL = `#!/bin/sh
case "$*" in
  "enable --now weft-head")
    install -d -o weft -m 0755 /run/weft
    cd /; setsid setpriv --reuid weft --regid weft --init-groups \\
      env WEFT_DIR=/var/lib/weft/head HOME=/var/lib/weft weft head > /tmp/head.log 2>&1 < /dev/null &
    echo $! > /tmp/head.pid;;
  "disable --now weft-agent weft-head")
    kill $(cat /tmp/head.pid); while kill -0 $(cat /tmp/head.pid) 2> /dev/null; do sleep 0.1; done;;
esac
`;

describe('packages with Node inside', () => {
  let folder: string;
  let deb: string;
  let tarball: string;
  let rpm: string;
  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'weft-packages-'));
    for (const name of ['one', 'two', 'root']) mkdirSync(path.join(folder, name));
    const files = (await make('one')).map((file) => path.basename(file));
    const ending = (end: string) => files.find((file) => file.endsWith(end)) ?? '';
    [tarball, rpm, deb] = [ending('.tar.gz'), ending('.rpm'), ending('.deb')];
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  async function make(name: string): Promise<string[]> {
    const tool = path.join(repository, 'tools', 'package.ts');
    const out = path.join(folder, name);
    const argv = [process.execPath, tool, '--out', out, '--quick'];
    const said = await runProgram(argv, { cwd: repository, env: process.env });
    assert.equal(said.code, 0, said.error);
    return said.out.trim().split('\n');
  }

  const plain = (home: string) => ({ PATH: '/usr/bin:/bin', HOME: home, LANG: 'C.UTF-8' });

  /** A script of root's on a copy of this machine, in which /packages has what was made. */
  function onMachine(script: string): Promise<Said> {
    writeFileSync(path.join(folder, 'one', 'inside.sh'), script);
    const outside = path.join(folder, 'outside.sh');
    const enter = `exec chroot ${folder}/root/all sh -e /packages/inside.sh\n`;
    writeFileSync(outside, `${MACHINE}${enter}`);
    const argv = ['unshare', '-m', '-n', '-p', '-f', '--kill-child', 'sh', outside];
    const places = [path.join(folder, 'root'), path.join(folder, 'one')];
    const env = { ...plain('/root'), PATH: '/usr/sbin:/usr/bin:/sbin:/bin', SYSTEMCTL };
    return runProgram([...argv, ...places], { env });
  }

  it('[Y8] the same sources give the same bytes', async () => {
    const sum = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');
    const sums = ['one', 'two'].map((name) => [deb, rpm, tarball].map((file) => `${name}/${file}`));
    await make('two');
    const [first, second] = sums.map((files) => files.map((file) => sum(path.join(folder, file))));
    assert.deepEqual(first, second);
    const checked = await Promise.all(
      ['one', 'two'].map((name) => {
        const cwd = path.join(folder, name);
        return runProgram(['sha256sum', '--check', '--strict', 'SHA256SUMS'], {
          cwd,
          env: plain('/'),
        });
      }),
    );
    for (const { code, out, error } of checked) {
      assert.equal(code, 0, error);
      for (const file of [deb, rpm, tarball]) assert.ok(out.includes(`${file}: OK`), out);
      assert.match(out, /\.cdx\.json: OK/);
    }
    assert.equal(checked[0]?.out, checked[1]?.out);
  });

  it('[Y8] [Y11] dpkg installs a Weft that runs jobs, starts nothing by itself, and purges it', async () => {
    const said = await onMachine(`
      # Each time dpkg would have this machine's manual pages listed anew.
      rm -f /var/lib/man-db/auto-update
      dpkg -i /packages/${deb} > /dev/null
      dpkg --verify weft
      getent passwd weft | cut -d: -f6
      stat -c '%U %a' /var/lib/weft
      test -e /usr/share/man/man1/weft-run.1.gz -a -e /usr/share/bash-completion/completions/weft
      dpkg-query --show --showformat '\${Conffiles}' weft | grep -q /etc/logrotate.d/weft
      grep -q ExecStart=/usr/bin/weft /usr/lib/systemd/system/weft-head.service
      cd /tmp; export WEFT_DIR=/tmp/cluster
      weft --version
      weft up --listen none > /dev/null || { cat /tmp/cluster/*/*.log >&2; exit 1; }
      weft run --wait --follow -- echo ran
      weft down > /dev/null
      printf '%s' "$SYSTEMCTL" > /usr/bin/systemctl; chmod 0755 /usr/bin/systemctl
      mkdir -p /run/systemd/system; unset WEFT_DIR
      weft setup head --yes --names localhost | sed 's/Weft .*/Weft/'
      weft setup head --yes | head -n 1
      weft info > /dev/null
      grep -c '^  quick:' /var/lib/weft/head/weft.yaml
      dpkg -i /packages/${deb} > /dev/null
      dpkg -P weft > /dev/null
      ls -d /usr/bin/weft /usr/lib/weft /var/lib/weft /etc/weft /etc/logrotate.d/weft 2>/dev/null || echo nothing is left
      getent passwd weft || echo nobody is left
    `);
    assert.equal(said.code, 0, said.error);
    const [home, owner, version, ...rest] = said.out.trim().split('\n');
    assert.deepEqual([home, owner], ['/var/lib/weft', 'weft 711']);
    assert.match(version ?? '', /^\d+\.\d+\.\d+/);
    assert.deepEqual(rest, [
      'ran',
      '- make /var/lib/weft/head, where it keeps everything',
      '- write /var/lib/weft/head/weft.yaml',
      '- start it, now and after each boot',
      'The head serves at /run/weft/weft.sock, Weft',
      '  weft node add user@host…    machines that run jobs, over ssh',
      '  weft doctor --cluster       whether they agree with this one',
      'All is there already:',
      '1',
      'nothing is left',
      'nobody is left',
    ]);
  });

  it('[Y8] rpm installs the same, and removes it', async () => {
    // Its dependencies have other names here.
    const said = await onMachine(`
      rpm --install --nodeps /packages/${rpm}
      rpm --verify --nodeps weft
      getent passwd weft | cut -d: -f6
      stat -c '%U %a' /var/lib/weft
      cd /tmp; export WEFT_DIR=/tmp/cluster
      weft up --listen none > /dev/null || { cat /tmp/cluster/*/*.log >&2; exit 1; }
      weft run --wait --follow -- echo ran
      weft down > /dev/null
      rpm --upgrade --force --nodeps /packages/${rpm}
      weft --version > /dev/null
      rpm --erase weft
      ls -d /usr/bin/weft /usr/lib/weft /usr/lib/systemd/system/weft-head.service 2>/dev/null || echo nothing is left
    `);
    assert.equal(said.code, 0, said.error);
    const lines = ['/var/lib/weft', 'weft 711', 'ran', 'nothing is left'];
    assert.deepEqual(said.out.trim().split('\n'), lines);
  });

  it('[Y8] the tarball runs from a home directory, without root and without a Node', async () => {
    const home = path.join(folder, 'home');
    const local = path.join(home, '.local');
    mkdirSync(local, { recursive: true });
    const env = plain(home);
    const run = async (...argv: string[]): Promise<string> => {
      const said = await runProgram(argv, { cwd: home, env });
      assert.equal(said.code, 0, said.error);
      return said.out.trim();
    };
    const file = path.join(folder, 'one', tarball);
    await run('tar', '-xzf', file, '-C', local, '--strip-components=1');
    const weft = path.join(local, 'bin', 'weft');
    await run(weft, 'up', '--listen', 'none');
    assert.equal(await run(weft, 'run', '--wait', '--follow', '--', 'echo', 'ran'), 'ran');
    await run(weft, 'down');
    // Another machine, as far as it says itself.
    const other = path.join(home, 'other');
    mkdirSync(other);
    writeFileSync(path.join(other, 'uname'), '#!/bin/sh\necho riscv64\n', { mode: 0o755 });
    const said = await runProgram([weft, 'info'], {
      cwd: home,
      env: { ...env, PATH: `${other}:/bin` },
    });
    assert.equal(said.code, 126);
    assert.match(
      said.error,
      /^weft: this package is for a \w+, and this machine is a riscv64: take/,
    );
  });
});
