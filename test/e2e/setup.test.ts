// `weft setup`, on machines that systemd has booted: a head, a node, a client, and the same for one
// user.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { until } from './support/hosts.ts';
import { repository, runProgram } from './support/local-cluster.ts';
import { type Booted, SystemdHosts } from './support/systemd-hosts.ts';

describe('weft setup with systemd', () => {
  let folder: string;
  let hosts: SystemdHosts;
  let head: Booted;
  let lab: Booted;
  let desk: Booted;
  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'weft-setup-'));
    const tool = path.join(repository, 'tools', 'package.ts');
    const argv = [process.execPath, tool, '--out', folder, '--quick', '--tarball'];
    const made = await runProgram(argv, { cwd: repository, env: process.env });
    assert.equal(made.code, 0, made.error);
    const tarball = made.out.split('\n').find((file) => file.endsWith('.tar.gz')) ?? '';
    hosts = new SystemdHosts([folder]);
    [head, lab, desk] = [
      await hosts.boot('head'),
      await hosts.boot('lab1'),
      await hosts.boot('desk'),
    ];
    for (const host of [head, lab, desk]) {
      await host.ok(`tar -xzf ${tarball} -C /usr/local --strip-components=1`);
      await host.ok("useradd --uid 4321 --create-home --password '*' pat");
    }
  });
  after(async () => {
    await hosts?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const asPat = (command: string) => `cd ~pat; runuser -u pat -- ${command}`;
  const last = (text: string) => text.trim().split('\n').at(-1) ?? '';

  it('[Y11] a head by a file of answers, and the same again changes nothing', async () => {
    await head.ok(
      'printf \'template: lab\\nnames: 10.77.0.1\\nname: "our lab"\\n\' > /root/answers',
    );
    const first = await head.ok('weft setup head --answers /root/answers');
    assert.match(
      first,
      /^- make the user weft.*\n- make .*\n- write .*\n- install its unit.*\n- start it/,
    );
    assert.match(first, /The head serves at \/run\/weft\/weft\.sock/);
    const again = await head.ok('weft setup head --answers /root/answers');
    assert.match(again, /^All is there already:\nThe head serves/);
    assert.equal(await head.ok('systemctl is-enabled weft-head'), 'enabled');
  });

  it('[Y15] a line of the answers that answers nothing is named', async () => {
    await head.ok("printf 'template: lab\\nnmes: x\\n' > /root/wrong");
    const wrong = await head.on('weft setup head --answers /root/wrong');
    assert.match(wrong.error, /\/root\/wrong:2: 'nmes: x' is no answer\. Did you mean 'names'\?/);
  });

  it('[Y12] a node is up when the command ends, and typed again it gets what it lacks', async () => {
    const token = await head.ok('weft token join | grep -o "weft-join:[^ ]*" | head -n 1');
    await lab.ok(`umask 077; printf 'token: %s\\n' '${token}' > /root/answers`);
    const first = await lab.ok('weft setup node --answers /root/answers');
    assert.match(first, /^- join the cluster.*\n- install its units.*\n- start the agent/);
    assert.equal(last(first), 'Node lab1 of our lab is up.');
    const again = await lab.ok('rm /etc/weft/client.yaml; weft setup node --yes');
    assert.match(
      again,
      /^- tell users of this machine where the head is\nNode lab1 of our lab is up\.$/,
    );
    assert.match(
      await lab.ok('cat /etc/weft/client.yaml'),
      /^head: "https:\/\/10\.77\.0\.1:5001"$/m,
    );
    const job = 'weft run --wait --follow -- sh -c "hostname; id -un"';
    assert.equal(await head.ok(asPat(job)), 'lab1\npat');
  });

  it('[Y12] on a node of another cluster nothing is changed', async () => {
    const file = '/var/lib/weft/node/membership.json';
    const zeros = '0'.repeat(64);
    await lab.ok(
      `cp -p ${file} /root/kept; sed -i -E 's/("fingerprint": *")[0-9a-f]*/\\1${zeros}/' ${file}`,
    );
    const said = await lab.on('weft setup node --answers /root/answers');
    await lab.ok(`mv /root/kept ${file}`);
    assert.equal(said.code, 2);
    assert.match(
      said.error,
      /this machine is node lab1 of another cluster\n.*Take it out there first/,
    );
  });

  it('[Y12] while one is at work another is refused, and one that was killed is in nobody’s way', async () => {
    const held = await desk.host.name;
    assert.equal(held, 'desk');
    await desk.ok(
      'setsid sh -c \'sleep 600 | script -qfc "weft setup node" /tmp/typed\' > /dev/null 2>&1 & echo $! > /tmp/first',
    );
    await until('it asks', async () => {
      const { out } = await desk.on('cat /tmp/typed; ls /run/weft-setup.lock');
      return /Join token.*lock/s.test(out) || undefined;
    });
    const second = await desk.on('weft setup node --yes');
    assert.equal(second.code, 2);
    const atWork = /another `weft setup` is at work on this machine \(process (\d+)\)/;
    const [, pid] = atWork.exec(second.error) ?? [];
    assert.ok(pid !== undefined, second.error);
    // Ends with its terminal, a moment later.
    const gone = `while kill -0 ${pid} 2>/dev/null; do sleep 0.1; done`;
    await desk.ok(`kill -KILL -$(cat /tmp/first); ${gone}`);
    const third = await desk.on('weft setup node --yes');
    assert.match(third.error, /there is no join token\n.*Type `weft token join` on the head/);
  });

  it('[Y11] what keeps a machine from being one is said in a line, with the way out', async () => {
    await desk.ok('mkdir -p /var/lib/weft; mount -t tmpfs -o size=8m small /var/lib/weft');
    const small = await desk.on('weft setup node --yes');
    await desk.ok('umount /var/lib/weft');
    assert.match(small.error, /8M are free where \/var\/lib\/weft\/node goes, and 256M are needed/);
    const pat = await desk.on(asPat('weft setup node --yes'));
    assert.match(pat.error, /a node of a machine is set up by root\n/);
  });

  it('[Y13] a client knows the head by its certificate, and its users log in', async () => {
    const pin = await head.ok(
      'weft info -o json | grep -o \'"fingerprint": "[0-9a-f]*\' | cut -d\'"\' -f4',
    );
    const unsure = await desk.on('weft setup client --yes --head 10.77.0.1');
    assert.match(
      unsure.error,
      /nobody says that 10\.77\.0\.1:5001 is the right head\n.*--fingerprint/,
    );
    const wrong = await desk.on(
      `weft setup client --yes --head 10.77.0.1 --fingerprint ${'0'.repeat(64)}`,
    );
    assert.notEqual(wrong.code, 0);
    await desk.ok('test ! -e /etc/weft/client.yaml');
    await desk.ok(`printf 'head: 10.77.0.1:5001\\nfingerprint: ${pin}\\n' > /root/answers`);
    const first = await desk.ok('weft setup client --answers /root/answers');
    assert.match(
      first,
      /^- write \/etc\/weft\/client\.yaml, for all users.*\nThe head at 10\.77\.0\.1:5001 answers/,
    );
    assert.match(
      await desk.ok('weft setup client --answers /root/answers'),
      /^All is there already:/,
    );
    await desk.ok(`cd ~pat; setsid runuser -u pat -- weft login > /tmp/login 2>&1 &`);
    const code = await until('it shows a code', async () => {
      const { out } = await desk.on('cat /tmp/login');
      return /code is (\S+),/.exec(out)?.[1];
    });
    await head.ok(asPat(`weft login --approve ${code} --yes`));
    await until(
      'it has a token',
      async () => (await desk.on(asPat('weft jobs'))).code === 0 || undefined,
    );
  });

  it('[Y14] without root, a head and a node of one user', async () => {
    await desk.ok('rm /etc/weft/client.yaml; rm -r ~pat/.config; systemctl start systemd-logind');
    await desk.ok('loginctl enable-linger pat');
    const own = (command: string) => asPat(`env XDG_RUNTIME_DIR=/run/user/4321 ${command}`);
    await until('the manager of pat', async () => {
      return (
        (await desk.on(own('systemctl --user show --property=Version'))).code === 0 || undefined
      );
    });
    const first = await desk.ok(own('weft setup head --user --yes --names 10.77.0.3'));
    assert.match(
      first,
      /^- write .*\n- install its unit.*\n- start it.*\nThe head serves at .*weft\.sock/,
    );
    const token = await desk.ok(own('weft token join | grep -o "weft-join:[^ ]*" | head -n 1'));
    const seen = await desk.on(own(`weft setup node --user --yes ${token}`));
    assert.match(seen.error, /a join token in the command would be seen by all users/);
    const pipe = `printf %s ${token} | weft setup node --user --yes --name mine -`;
    const node = await desk.ok(own(`sh -c '${pipe}'`));
    assert.equal(last(node), 'Node mine of weft is up.');
    const job = 'weft run --wait --follow -- id -un';
    assert.equal(await desk.ok(own(job)), 'pat');
    const again = await desk.ok(own('weft setup node --user --yes'));
    assert.match(again, /^All is there already:\nNode mine/);
  });

  it('[Y17] what was set up goes again, and leaves nothing', async () => {
    const own = (command: string) => asPat(`env XDG_RUNTIME_DIR=/run/user/4321 ${command}`);
    assert.match(await desk.ok(own('weft setup remove --user --yes')), /It is gone\./);
    await desk.ok(
      'cd ~pat; ! ls .local/state/weft .local/state/weft-node .config/systemd/user/weft-*',
    );
    for (const host of [lab, head]) {
      const said = await host.ok('weft setup remove --yes');
      assert.match(said, /^- stop weft-.*\n- remove \/var\/lib\/weft/);
      const left =
        'ls -d /var/lib/weft /etc/weft/client.yaml /etc/systemd/system/weft-* 2>/dev/null; true';
      assert.equal(await host.ok(left), '');
      assert.equal(await host.ok('pgrep -fc "weft.mjs (head|agent)|[w]eft-launcher" || true'), '0');
      assert.match(await host.ok('weft setup remove --yes'), /^Nothing of Weft is set up here\.$/);
    }
  });
});
