// Machines become nodes over a real sshd, each on a host with file systems of its own: what is not
// sent is not there.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { until } from './support/hosts.ts';
import { SshLab } from './support/ssh-lab.ts';

/** What is below /opt where all went well. */
const ONLY_WEFT = '/opt/weft\nnow\nrelease';

describe('nodes over ssh', () => {
  let lab: SshLab;
  before(async () => {
    lab = await SshLab.start(3);
    for (const host of [lab.head, ...lab.nodes]) {
      await lab.ok(host, "useradd --uid 4321 --create-home --password '*' pat");
    }
    await lab.ok(lab.head, 'ssh-keyscan lab1 lab2 lab3 >> /root/.ssh/known_hosts 2>/dev/null');
  });
  after(() => lab?.close());

  const [LAB1, LAB2, LAB3] = [0, 1, 2];
  const host = (at: number) => {
    const found = lab.nodes[at];
    assert.ok(found !== undefined);
    return found;
  };
  const asPat = (command: string) => `runuser -u pat -- ${command}`;
  const WEFT = () => lab.command.join(' ');

  it('[I1] machines that have nothing are nodes after one command, and run jobs of a user', async () => {
    const said = await lab.weft('node', 'add', 'lab1', 'root@lab2');
    assert.equal(said.code, 0, said.error);
    assert.match(said.out, /^lab1: node lab1 is up, .* \(joined\)/m);
    assert.match(said.out, /^root@lab2: node lab2 is up, .* \(joined\)/m);
    const job = `${WEFT()} run --wait --follow --nodes-named lab2 -- 'hostname; id -un'`;
    assert.equal(await lab.ok(lab.head, `cd ~pat; ${asPat(job)}`), 'lab2\npat');
    // Each token was for one machine, and is over with its joining.
    const tokens = await lab.weft('token', 'list', '--all');
    assert.doesNotMatch(tokens.out, /weft node add/, tokens.out);
  });

  it('[I1] the same again changes nothing, and adds what is new', async () => {
    const pid = await lab.ok(host(LAB1), 'cat /var/lib/weft/node/rollout.pid');
    await lab.ok(lab.head, "printf '# the lab\\nlab1\\nlab2\\nlab3 third\\n' > /root/hosts");
    const said = await lab.weft('node', 'add', '--hosts', '/root/hosts');
    assert.equal(said.code, 0, said.error);
    assert.match(said.out, /^lab1: .*\(was up already\)/m);
    assert.match(said.out, /^lab3: node third is up, .*\(joined\)/m);
    assert.equal(await lab.ok(host(LAB1), 'cat /var/lib/weft/node/rollout.pid'), pid);
  });

  it('[O10] the owner of a machine says whose jobs it takes', async () => {
    const owners = (what: string): Promise<string> => lab.ok(host(LAB2), what);
    await owners('install -D -o pat -m 0644 /dev/null /etc/weft/owner.yaml');
    await owners("runuser -u pat -- sh -c 'echo users: eve > /etc/weft/owner.yaml'");
    const shown = async (): Promise<string> => (await lab.weft('node', 'show', 'lab2')).out;
    await until('the head knows', async () => /jobs of: +eve/.test(await shown()) || undefined);
    const job = `cd ~pat; ${asPat(`${WEFT()} run --wait --nodes-named lab2 true`)}`;
    const refused = await lab.on(lab.head, job);
    assert.match(refused.error, /lab2 takes no jobs of pat, as its owner says/);
    await owners("echo 'user: pat' > /etc/weft/owner.yaml");
    const wrong = /owner's file: .*owner.yaml:1: 'user: pat' is no rule/;
    await until('it says what is wrong', async () => wrong.test(await shown()) || undefined);
    await owners("echo 'users: pat' > /etc/weft/owner.yaml");
    await until('it is mended', async () => /jobs of: +pat/.test(await shown()) || undefined);
    await lab.ok(lab.head, job);
    await owners('rm /etc/weft/owner.yaml');
  });

  it('[I3] an upgrade starts agents anew, and what runs there goes on', async () => {
    const job = `${WEFT()} run --nodes-named lab1 -- 'echo $$ > /tmp/ran; until [ -e /tmp/go ]; do sleep 0.1; done; echo $$ >> /tmp/ran'`;
    const id = await lab.ok(lab.head, `cd ~pat; ${asPat(job)}`);
    const runs = 'cat /tmp/ran 2>/dev/null; true';
    await until('it runs', async () => (await lab.ok(host(LAB1), runs)) !== '' || undefined);
    const pid = await lab.ok(host(LAB1), 'cat /var/lib/weft/node/rollout.pid');
    const nodejs = () => lab.ok(host(LAB1), 'stat -c %i /opt/weft/now/node');
    const before = await nodejs();
    // As an earlier release, and a run that was cut off, have left it.
    await lab.ok(host(LAB1), 'echo 0.0.9 > /opt/weft/release; mkdir /opt/weft/new-half');
    const said = await lab.weft('node', 'upgrade', 'lab1');
    assert.equal(said.code, 0, said.error);
    assert.match(said.out, /^lab1: .*\(has this release now\)/m);
    assert.notEqual(await lab.ok(host(LAB1), 'cat /var/lib/weft/node/rollout.pid'), pid);
    assert.equal(await lab.ok(host(LAB1), 'ls /opt/weft'), 'now\nrelease');
    assert.equal(await nodejs(), before, 'the Node.js that is there is not sent once more');
    await lab.ok(host(LAB1), 'touch /tmp/go');
    assert.equal(await lab.ok(lab.head, asPat(`${WEFT()} wait ${id}`)), `${id} completed`);
    const [first, last, ...more] = (await lab.ok(host(LAB1), runs)).split('\n');
    assert.equal(first, last);
    assert.equal(more.length, 0);
  });

  it('[I1] an agent that was on its way out when the machine was looked at is started', async () => {
    const pid = await lab.ok(host(LAB3), 'cat /var/lib/weft/node/rollout.pid');
    await lab.ok(host(LAB3), `kill ${pid}; while kill -0 ${pid} 2>/dev/null; do sleep 0.1; done`);
    // Ends within the wait for a second look, and well after the first.
    const dying = "setsid sh -c 'sleep 5; :' weft agent --dir /var/lib/weft/node x";
    await lab.ok(
      host(LAB3),
      `${dying} > /dev/null 2>&1 & echo $! > /var/lib/weft/node/rollout.pid`,
    );
    const said = await lab.weft('node', 'add', 'lab3');
    assert.equal(said.code, 0, said.error);
    assert.match(said.out, /^lab3: node third is up/m);
  });

  it('[I2] each machine that cannot be a node is named with the way out, and the others go on', async () => {
    const key = await lab.ok(lab.head, 'cat /root/.ssh/id_ed25519.pub');
    const keys = `install -d -m 0700 -o pat ~pat/.ssh; echo '${key}' > ~pat/.ssh/authorized_keys; chown pat ~pat/.ssh/authorized_keys`;
    await lab.ok(host(LAB2), keys);
    await lab.ok(host(LAB3), 'rm -f /root/.ssh/authorized_keys');
    await lab.ok(
      host(LAB1),
      'cp /var/lib/weft/node/membership.json /root/kept; sed -i "s/\\"fingerprint\\": *\\"[0-9a-f]*/\\"fingerprint\\": \\"$(printf 0%.0s $(seq 64))/" /var/lib/weft/node/membership.json',
    );
    const said = await lab.weft('node', 'add', 'lab1', 'root@lab2', 'pat@lab2', 'lab3', 'nowhere');
    await lab.ok(host(LAB1), 'cp /root/kept /var/lib/weft/node/membership.json');
    assert.equal(said.code, 1);
    assert.match(said.out, /^root@lab2: .*\(was up already\)\n$/);
    assert.match(said.error, /lab1: it is node lab1 of another cluster\. Take it out there first/);
    assert.match(said.error, /pat@lab2: jobs of all users need root there.*--without-root/);
    assert.match(said.error, /lab3: ssh: .*Permission denied.*ssh-copy-id lab3/);
    assert.match(said.error, /nowhere: ssh: .*Could not resolve/);
    assert.match(said.error, /4 of 5 machines are not up/);
    await lab.ok(host(LAB3), `echo '${key}' > /root/.ssh/authorized_keys`);
  });

  it('[I2] a machine whose name another node has is told so before anything is sent', async () => {
    await lab.ok(host(LAB2), 'mv /var/lib/weft/node/membership.json /root/kept');
    const said = await lab.weft('node', 'add', '--name', 'lab1', 'lab2');
    await lab.ok(host(LAB2), 'mv /root/kept /var/lib/weft/node/membership.json');
    assert.equal(said.code, 1);
    assert.match(said.error, /lab2: the head has another node lab1 already, which is up\. Give/);
  });

  it('[I2] bad input is refused before any machine is touched', async () => {
    const refused = async (words: RegExp, ...args: string[]): Promise<void> => {
      const { code, error, out } = await lab.weft('node', 'add', ...args);
      assert.equal(code, 2, error);
      assert.equal(out, '');
      assert.match(error, words);
    };
    await refused(/is no destination of ssh/, '--', '-oProxyCommand=touch /tmp/pwned');
    await refused(/there is no machine to add/);
    await refused(/--name is for one machine/, '--name', 'x', 'lab1', 'lab2');
    await refused(/\/nowhere cannot be read/, '--hosts', '/nowhere');
    await lab.ok(lab.head, "printf 'lab1\\n\\nlab2 a b\\n' > /root/bad");
    await refused(/\/root\/bad:3: expected HOST \[NAME\]/, '--hosts', '/root/bad');
  });

  it('[I4] a machine that is taken out has nothing of Weft, and is refused while tasks run there', async () => {
    const job = `${WEFT()} run --nodes-named lab1 -- 'until [ -e /tmp/end ]; do sleep 0.1; done'`;
    const id = await lab.ok(lab.head, `cd ~pat; ${asPat(job)}`);
    await until('it runs', async () => {
      const { out } = await lab.weft('job', id);
      return /running/.test(out) || undefined;
    });
    const busy = await lab.weft('node', 'uninstall', 'lab1');
    assert.notEqual(busy.code, 0);
    assert.match(busy.error, /1 task run.* on lab1/);
    await lab.ok(host(LAB1), 'touch /tmp/end');
    await lab.ok(lab.head, asPat(`${WEFT()} wait ${id}`));
    const said = await lab.weft('node', 'uninstall', 'lab1');
    assert.equal(said.code, 0, said.error);
    assert.match(said.out, /lab1: Weft is off it, and node lab1 is removed/);
    const left =
      'ls -d /opt/weft /var/lib/weft/node /usr/local/bin/weft /etc/weft/client.yaml 2>/dev/null; true';
    assert.equal(await lab.ok(host(LAB1), left), '');
    await until(
      'its processes end',
      () =>
        host(LAB1)
          .processes()
          .every((line) => !line.includes('weft')) || undefined,
    );
    assert.doesNotMatch((await lab.weft('node', 'list')).out, /lab1/);
  });

  it('[I5] two who add one machine at once make it a node once, and leave nothing behind', async () => {
    const both = await Promise.all([
      lab.weft('node', 'add', 'lab1'),
      lab.weft('node', 'add', 'root@lab1'),
    ]);
    const said = both.map(({ out, error }) => `${out}${error}`).join('\n');
    assert.deepEqual(
      both.map(({ code }) => code),
      [0, 0],
      said,
    );
    assert.equal(said.match(/node lab1 is up, .*\(joined\)/g)?.length, 1, said);
    assert.equal(said.match(/node lab1 is up, .*\(was up already\)/g)?.length, 1, said);
    assert.equal(await lab.ok(host(LAB1), 'ls -d /opt/weft*; ls /opt/weft'), ONLY_WEFT);
  });

  const saidSoFar = (): Promise<string> => lab.ok(lab.head, 'cat /root/said 2>/dev/null; true');

  it('[I5] one that somebody ends leaves no machine locked', async () => {
    await lab.ok(host(LAB1), 'echo 0.0.9 > /opt/weft/release');
    const command = `${WEFT()} node upgrade lab1 2> /root/said & echo $! > /root/pid; wait $!`;
    const ended = lab.on(lab.head, command);
    await until('it is at work there', async () => {
      const { out } = await lab.on(host(LAB1), 'readlink /opt/weft.lock');
      return /weft node upgrade of root@/.test(out) || undefined;
    });
    await lab.ok(lab.head, 'kill -TERM $(cat /root/pid)');
    assert.equal((await ended).code, 143, await saidSoFar());
    assert.equal(await lab.ok(host(LAB1), 'ls -d /opt/weft*'), '/opt/weft');
  });

  it('[I5] who is waited for, and one that was killed is gone on from', async () => {
    const leave = (ago: number): Promise<string> =>
      lab.ok(
        host(LAB1),
        `then=$(($(date +%s) - ${ago})); ln -s "ff $then $then weft node add of eve@desk" /opt/weft.lock`,
      );
    // The one that was ended may have left something half sent.
    await lab.ok(host(LAB1), 'rm -rf /opt/weft/new-*; echo 0.0.9 > /opt/weft/release');
    await leave(30);
    const waiting = lab.on(lab.head, `${WEFT()} node upgrade lab1 2> /root/said`);
    await until('it waits', async () => {
      return /lab1: waits, as weft node add of eve@desk/.test(await saidSoFar()) || undefined;
    });
    await lab.ok(host(LAB1), 'test ! -e /opt/weft/new-*; rm /opt/weft.lock');
    const waited = await waiting;
    assert.equal(waited.code, 0, await saidSoFar());
    assert.match(waited.out, /^lab1: .*\(has this release now\)/m);
    // Only its agent is to be started anew now.
    await lab.ok(host(LAB1), 'echo 0.0.9 > /var/lib/weft/node/started');
    await leave(1300);
    const after = await lab.weft('node', 'upgrade', 'lab1');
    assert.equal(after.code, 0, after.error);
    assert.match(
      after.error,
      /lab1: goes on from where weft node add of eve@desk was cut off, 21m/,
    );
    assert.equal(await lab.ok(host(LAB1), 'ls -d /opt/weft*; ls /opt/weft'), ONLY_WEFT);
  });
});
