// A lab from its first afternoon to the day when the head's disk is lost: machines over ssh, users
// with caps, one of whom works at a machine that is no node, a batch, a backup put back on another
// host, an upgrade under running jobs. Nothing is lost, and nothing is done twice.
// WEFT_TEST_LAB_NODES=7: with so many machines, two if absent.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Host, until } from './support/hosts.ts';
import { SshLab } from './support/ssh-lab.ts';

const BATCH = `namespace: bob
name: squares
defaults: {run: job.sh, cpus: 1, memory: 64M, time: 5m}
jobs:
  - {name: two, args: ["2"]}
  - {name: three, args: ["3"]}
outputs: ['result']
`;

/** Machines that are nodes; one more is spare. */
const COUNT = Number(process.env['WEFT_TEST_LAB_NODES'] ?? 2);
const NODES = Array.from({ length: COUNT }, (_, at) => `lab${at + 1}`);
const SPARE_NAME = `lab${COUNT + 1}`;

interface Info {
  readonly head: { readonly fingerprint: string };
}

interface Listed {
  readonly id: number;
  readonly outcome: { readonly kind: string } | null;
}

describe('a lab', () => {
  let lab: SshLab;
  /** Where bob works: no node, and it knows nobody's ssh. */
  let desk: Host;
  before(async () => {
    lab = await SshLab.start(COUNT + 1);
    desk = await lab.lan.addHost('desk');
    for (const host of [lab.head, desk, ...lab.nodes]) {
      await lab.ok(host, "useradd --uid 4321 --create-home --password '*' ann");
      await lab.ok(host, "useradd --uid 4322 --create-home --password '*' bob");
      await lab.ok(host, "useradd --uid 4323 --create-home --password '*' cy");
    }
    const names = [...NODES, SPARE_NAME].join(' ');
    await lab.ok(lab.head, `ssh-keyscan ${names} >> /root/.ssh/known_hosts 2>/dev/null`);
  });
  after(() => lab?.close());

  const host = (at: number): Host => {
    const found = lab.nodes[at];
    assert.ok(found !== undefined);
    return found;
  };
  const [LAB1, LAB2, SPARE] = [0, 1, COUNT];
  /** A command line of a user, in that user's home. */
  const scriptOf = (user: string, line: string): string =>
    `cd ~${user}; HOME=$PWD runuser -u ${user} -- sh -c 'weft() { ${lab.command.join(' ')} "$@"; }; ${line}'`;
  /** On the head's machine. */
  const as = (user: string, line: string): Promise<string> =>
    lab.ok(lab.head, scriptOf(user, line));
  const atDesk = (user: string, line: string): Promise<string> =>
    lab.ok(desk, scriptOf(user, line));
  const ok = async (...args: string[]): Promise<string> => {
    const said = await lab.weft(...args);
    assert.equal(said.code, 0, `weft ${args.join(' ')}: ${said.out}${said.error}`);
    return said.out.trim();
  };
  /** What the doctor says of the machines. */
  const machines = async (): Promise<string[]> => {
    const { out } = await lab.weft('doctor', '--cluster', '-o', 'json');
    const found = JSON.parse(out) as { name: string; state: string; text: string }[];
    return found.flatMap(({ name, state, text }) =>
      name === 'machines' ? [`${state} ${text}`] : [],
    );
  };
  /** A job that says on its node that it began and ended, and waits for a word in between. */
  const long = (name: string): string =>
    `weft run --on-node-loss wait --name ${name} -- "echo began >> /tmp/${name}; until [ -e /tmp/go-${name} ]; do sleep 0.1; done; echo ended >> /tmp/${name}; echo done-${name}"`;
  const runsOn = async (at: number, name: string): Promise<void> => {
    await until(`${name} runs`, async () => {
      const said = await lab.on(host(at), `cat /tmp/${name}`);
      return said.code === 0 || undefined;
    });
  };

  it('[Y2] machines are added, and the doctor finds nothing that differs', async () => {
    await ok('node', 'add', ...NODES);
    const [first, ...rest] = await machines();
    assert.equal(
      first?.replace(/\d+ accounts/, 'accounts'),
      `ok ${COUNT} of ${COUNT} machines looked at; accounts, nothing differs`,
    );
    assert.deepEqual(rest, []);
  });

  it('[Y2] what differs is named with its machine, and what keeps a node away', async () => {
    await lab.ok(host(LAB2), 'usermod --uid 4999 bob; usermod -aG games ann');
    await lab.ok(
      host(LAB1),
      'pid=$(cat /var/lib/weft/node/rollout.pid); kill $pid; while kill -0 $pid 2>/dev/null; do sleep 0.1; done',
    );
    await until('lab1 is away', async () => {
      return (
        /"state": "(away|unreachable)"/.test(await ok('node', 'show', 'lab1', '-o', 'json')) ||
        undefined
      );
    });
    const [, ...found] = await machines();
    assert.deepEqual(found, [
      'bad node lab1 is away: no agent runs there',
      'note account ann: in other groups than here: on lab2 also games',
      "bad account bob: uid 4322 here, 4999 on lab2; files on shared disks are another's there",
    ]);
    await lab.ok(host(LAB2), 'usermod --uid 4322 bob; usermod -G "" ann');
    await ok('node', 'add', 'lab1', 'lab2');
    assert.equal((await machines()).length, 1);
  });

  it('[Y7] users of a machine that is no node log in there, and work as at the head', async () => {
    const { head } = JSON.parse(await ok('info', '-o', 'json')) as Info;
    const told = `--head ${lab.head.address}:5001 --fingerprint ${head.fingerprint}`;
    const setup = await lab.ok(desk, `${lab.command.join(' ')} setup client --yes ${told}`);
    assert.match(setup, /write \/etc\/weft\/client\.yaml, for all users of this machine/);
    assert.match(setup, /The head at 10\.77\.0\.1:5001 answers/);
    const answered: Promise<string>[] = [];
    const login = await lab.run(desk, ['sh', '-c', scriptOf('bob', 'weft login')], {
      onOutput: (soFar) => {
        const code = /Your code is (\S+), good until .*\n/.exec(soFar)?.[1];
        if (code === undefined || answered.length > 0) return;
        answered.push(as('bob', `weft login --approve ${code} --yes`));
      },
    });
    assert.equal(login.code, 0, login.error);
    assert.match((await answered[0]) ?? '', /bob@desk.* has a token of bob now\./);
    assert.match(login.out, /You are bob\. The token is in .*, until/);
    const run = 'weft run --wait --follow --nodes-named lab1 -- "hostname; id -un"';
    assert.equal(await atDesk('bob', run), 'lab1\nbob');
  });

  it('[P16] a cap keeps what is beyond it waiting, says so, and lets it go when it is raised', async () => {
    await ok('user', 'set', 'ann', '--running', '1');
    const id = await as(
      'ann',
      'weft run --nodes-named lab1 --array 1-2 -- "until [ -e /tmp/caps ]; do sleep 0.1; done"',
    );
    await until('one waits for the cap', async () => {
      const said = await as('ann', `weft why ${id}`);
      return /your cap is 1 in the whole cluster/.test(said) || undefined;
    });
    await ok('user', 'set', 'ann', '--running', 'none');
    await until('both run', async () => {
      return /"running": ?2/.test(await as('ann', `weft job ${id} -o json`)) || undefined;
    });
    await lab.ok(host(LAB1), 'touch /tmp/caps');
    await as('ann', `weft wait ${id}`);
    await ok('user', 'set', 'bob', '--cpus', '4');
    await ok('user', 'set', 'cy', '--cpus', '1');
    const told = await lab.on(
      lab.head,
      `runuser -u cy -- ${lab.command.join(' ')} run --cpus 2 -- true`,
    );
    assert.match(told.error, /asks for 2 cpus, and cy may hold 1 at once/, told.out);
    const sent = await as('cy', 'weft run --cpus 1 -- "echo from cy"');
    assert.equal(await as('cy', `weft wait ${sent}`), `${sent} completed`);
  });

  it('[Y3] a lost head is put back on another machine: jobs go on, results and caps are there', async () => {
    await lab.ok(
      desk,
      `cat > ~bob/weft.batch.yaml <<'END'\n${BATCH}END\nprintf '#!/bin/sh\\necho $(($1 * $1)) > distribute_save/result\\n' > ~bob/job.sh; chmod +x ~bob/job.sh; chown bob ~bob/*`,
    );
    await atDesk('bob', 'weft batch submit --wait');
    const running = await as('ann', long('kept'));
    const at = await nodeOf(running);
    await runsOn(at, 'kept');
    await ok('backup', '--to', '/var/lib/backups');
    await lab.ok(
      lab.head,
      `tar -C /var/lib -cf - backups | ssh ${SPARE_NAME} tar -C /var/lib -xf -; tar -C /root -cf - .ssh | ssh ${SPARE_NAME} tar -C /root -xf -`,
    );
    await lab.loseHead();
    await lab.takeOver(host(SPARE));
    const restored = await ok(
      'restore',
      `/var/lib/backups/${await newest()}`,
      '--dir',
      '/var/lib/weft/head',
    );
    assert.match(restored, /1 of them not ended/);
    await lab.startHead('--accept-loss');
    await lab.ok(host(at), 'touch /tmp/go-kept');
    assert.equal(await as('ann', `weft wait ${running}`), `${running} completed`);
    assert.equal(await as('ann', `weft logs ${running}`), 'done-kept');
    assert.equal(await lab.ok(host(at), 'cat /tmp/kept'), 'began\nended');
    await atDesk('bob', 'weft batch pull bob/squares --save-dir pulled');
    assert.equal(await lab.ok(desk, 'find ~bob/pulled -name result | xargs cat | sort'), '4\n9');
    assert.match(await ok('user', 'list', '-o', 'json'), /"running": null/);
  });

  it('[I3] the new head upgrades its machines while jobs run there', async () => {
    const jobs = await Promise.all([as('ann', long('one')), as('bob', long('two'))]);
    const places = await Promise.all(jobs.map((id) => nodeOf(id)));
    await runsOn(places[0] ?? 0, 'one');
    await runsOn(places[1] ?? 0, 'two');
    for (const at of NODES.keys()) await lab.ok(host(at), 'echo 0.0.9 > /opt/weft/release');
    const said = await ok('node', 'upgrade', ...NODES);
    assert.equal(said.match(/has this release now/g)?.length, COUNT, said);
    for (const [index, name] of ['one', 'two'].entries()) {
      const there = host(places[index] ?? 0);
      await lab.ok(there, `touch /tmp/go-${name}`);
      const user = index === 0 ? 'ann' : 'bob';
      assert.equal(await as(user, `weft wait ${jobs[index]}`), `${jobs[index]} completed`);
      assert.equal(await lab.ok(there, `cat /tmp/${name}`), 'began\nended');
    }
  });

  it('[Y3] nothing is lost: every job of that day is there, and completed', async () => {
    const all = JSON.parse(await ok('history', '-o', 'json')) as Listed[];
    // An array, a batch, and five by themselves.
    assert.equal(all.length, 7);
    for (const { id, outcome } of all) assert.equal(outcome?.kind, 'completed', `job ${id}`);
  });

  async function newest(): Promise<string> {
    const names = await lab.ok(lab.head, 'ls /var/lib/backups');
    return names.split('\n').at(-1) ?? '';
  }

  /** Where a plain job runs, once it does. */
  async function nodeOf(id: string): Promise<number> {
    const name = await until(`job ${id} runs`, async () => {
      const shown = await ok('job', id, '-o', 'json');
      return /"lab(\d+)"/.exec(shown)?.[1];
    });
    return Number(name) - 1;
  }
});
