// A machine with systemd as its init and control groups of version 2 only, installed as
// docs/install.md says: jobs and their limits, units stopped and started under running jobs,
// power lost, all removed.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { missingPackages } from '../../tools/debian-packages.ts';
import { type Said, VirtualMachine } from './support/virtual-machine.ts';

const lacking = missingPackages(['e2e']).map(({ name }) => name);
const lacksKernel = ['user-mode-linux', 'e2fsprogs', 'systemd'].some((n) => lacking.includes(n));
const skip =
  (process.arch !== 'x64' && 'a kernel for x64 only') ||
  (process.env['CI'] !== 'true' && lacksKernel && 'needs user-mode-linux, e2fsprogs, systemd');

/** docs/install.md, `Removing`. */
const UNINSTALL = [
  'systemctl disable --now weft-agent weft-jobs weft-head',
  'rm /etc/systemd/system/weft-*.service && systemctl daemon-reload',
  'rm -r /var/lib/weft /var/cache/weft /usr/bin/weft && userdel weft',
  'rm -f /etc/weft/client.yaml',
  'rm -rf /tmp/weft-login-* /root/.cache/weft /home/alice/.cache/weft',
];

describe('a machine with systemd and cgroup v2', { skip }, () => {
  let machine: VirtualMachine;
  const inside = (line: string): Promise<string> => machine.ok(line);
  const alice = (line: string): Promise<string> =>
    inside(`cd /home/alice && runuser -u alice -- ${line}`);
  const run = (options: string, script: string): Promise<string> =>
    alice(`weft run --chdir /home/alice ${options} -- '${script}'`);
  const ended = (...ids: string[]): Promise<string> => alice(`weft wait ${ids.join(' ')} || true`);
  /** Exit code of a job, and what is said of it, by one program that submits and waits. */
  const finished = (options: string, script: string): Promise<Said> =>
    machine.run(
      `cd /home/alice && runuser -u alice -- weft run --wait --chdir /home/alice ${options} -- '${script}'`,
    );
  const written = async (file: string): Promise<string> => {
    await machine.until(`[ -s ${file} ]`);
    return inside(`cat ${file}`);
  };
  const gone = (pattern: string): Promise<void> => machine.until(`! pgrep -f '${pattern}'`);
  const headAnswers = (): Promise<void> => machine.until('[ -S /run/weft/weft.sock ]');

  before(async () => {
    machine = await VirtualMachine.start();
    await inside('cp /usr/lib/node_modules/weft/deploy/systemd/*.service /etc/systemd/system');
    await inside('useradd --system --create-home --home-dir /var/lib/weft weft');
    await inside('chmod 0711 /var/lib/weft && useradd --create-home alice');
    await inside('runuser -u weft -- weft init --dir /var/lib/weft/head --names localhost');
    await inside('systemctl enable --now weft-head');
    await headAnswers();
    await inside('weft token join | weft join --dir /var/lib/weft/node -');
    // Two jobs at a time, on the one processor that such a machine has.
    await inside('echo "node: {shared: [/home], cpus: 2}" > /var/lib/weft/node/weft.yaml');
    await inside('systemctl enable --now weft-agent');
    await inside('grep -qm1 "connected to the head" <(journalctl -fu weft-agent 2> /dev/null)');
  });
  after(() => machine?.close());

  it('a job is limited by a group of version 2, as its submitter', async () => {
    const script =
      'cd /sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup); id -un; ' +
      'cat memory.max memory.swap.max memory.oom.group cpu.max pids.max';
    const { code, output } = await finished('--memory 64M --cpus 1 --output limits', script);
    assert.equal(code, 0, output);
    const lines = (await written('/home/alice/limits')).split('\n');
    const half = Math.floor(Number(await inside('cat /proc/sys/kernel/pid_max')) / 2);
    const wanted = ['alice', '67108864', '0', '1', '100000 100000', `${half}`];
    assert.deepEqual(
      lines,
      wanted.filter((line) => line !== '0' || lines.includes('0')),
    );
    assert.match(await inside('weft node show machine'), /Limits: +cgroup v2/);
  });

  it('[S7] a job that takes more memory than it asked for ends as out of memory', async () => {
    const { code, output } = await finished('--memory 64M', 'tail /dev/zero');
    assert.equal(code, 137, output);
    assert.match(output, /out_of_memory/);
  });

  it('a job over its walltime is gone with what left its session', async () => {
    const { output } = await finished('--time 2s', 'setsid sleep 7771 & trap "" TERM; sleep 7772');
    assert.match(output, /timeout/);
    await gone('[s]leep 777');
  });

  it('jobs live through restarts of both units', async () => {
    const script = 'echo begun >> twice; until [ -e go ]; do sleep 1; done; echo end >> twice';
    const id = await run('', script);
    await written('/home/alice/twice');
    await inside('systemctl restart weft-agent');
    await inside('systemctl restart weft-head');
    await headAnswers();
    await inside('touch /home/alice/go');
    assert.equal(await ended(id), `${id} completed`);
    assert.equal(await inside('cat /home/alice/twice'), 'begun\nend');
    const after = await finished('--memory 64M', 'tail /dev/zero');
    assert.match(after.output, /out_of_memory/, 'limits are kept by the new agent, too');
  });

  it('[N7] after a loss of power the units start and every job runs again', async () => {
    const script = (file: string): string =>
      `echo $WEFT_EPOCH >> ${file}; sync; echo > ${file}-kept; [ $WEFT_EPOCH = 2 ] || sleep 7773`;
    const waiting = await run('--on-node-loss wait', script('waiting'));
    const moving = await run('--on-node-loss requeue', script('moving'));
    // On the disk, and not only written: what is not would be lost with the power.
    await machine.until('[ -e /home/alice/waiting-kept -a -e /home/alice/moving-kept ]');
    await machine.reset();
    await headAnswers();
    const ends = (await ended(waiting, moving)).split('\n').toSorted();
    assert.deepEqual(ends, [waiting, moving].map((id) => `${id} completed`).toSorted());
    assert.equal(await inside('cat /home/alice/waiting'), '1\n2');
    assert.equal(await inside('cat /home/alice/moving'), '1\n2');
  });

  it('nothing is left when all is removed as the document says', async () => {
    for (const line of UNINSTALL) await inside(line);
    await gone('[w]eft-launcher|[b]in/weft');
    const left = await machine.run(
      'find / -xdev -name "*weft*" -not -path "/usr/lib/node_modules/*"',
    );
    assert.equal(left.output, '');
    assert.equal(await inside('find /sys/fs/cgroup -name "*weft*"'), '');
  });
});
