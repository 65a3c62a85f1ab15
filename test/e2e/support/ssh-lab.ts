// Machines as a lab has them: hosts with file systems of their own, of which a head's user reaches
// the others by ssh alone.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { whenKilled } from '../../support/when-killed.ts';
import { type Host, Lan, type Program, until } from './hosts.ts';
import { quickStarts, repository, runProgram, type Said, type Setting } from './local-cluster.ts';

/** Only what an sshd needs; keys are the host's own, and shells are set up as no machine's. */
const SSHD = `: > /root/.bashrc; mount -t tmpfs -o mode=0755 run /run; mkdir -p /run/sshd
rm -f /etc/ssh/ssh_host_*; ssh-keygen -q -A
cat > /etc/ssh/sshd_config <<'END'
PermitRootLogin prohibit-password
PasswordAuthentication no
PidFile none
END
`;
const CLIENT = `mkdir -p -m 0700 /root/.ssh
ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519
printf 'Host *\\n  StrictHostKeyChecking accept-new\\n' > /root/.ssh/config
`;

export class SshLab {
  readonly lan: Lan;
  head: Host;
  readonly nodes: readonly Host[];
  /** Under which the head was joined. */
  #address: string;
  #running: Program | null = null;
  readonly #forget = whenKilled(() => this.lan.closeNow());

  private constructor(head: Host, nodes: readonly Host[], lan: Lan) {
    this.lan = lan;
    this.head = head;
    this.#address = head.address;
    this.nodes = nodes;
  }

  /** A head that serves, and machines with an sshd that know its root's key. */
  static async start(count: number): Promise<SshLab> {
    const lan = new Lan([]);
    const head = await lan.addHost('head');
    const nodes: Host[] = [];
    for (let at = 1; at <= count; at++) nodes.push(await lan.addHost(`lab${at}`));
    const lab = new SshLab(head, nodes, lan);
    await lab.ok(head, `mount -t tmpfs -o mode=0755 run /run; mkdir /run/weft\n${CLIENT}`);
    const key = await lab.ok(head, 'cat /root/.ssh/id_ed25519.pub');
    for (const node of nodes) await lab.openTo(node, key);
    await lab.startHead();
    return lab;
  }

  async openTo(host: Host, key: string): Promise<void> {
    await this.ok(
      host,
      `${SSHD}mkdir -p -m 0700 /root/.ssh; echo '${key}' > /root/.ssh/authorized_keys`,
    );
    await host.start('/usr/sbin/sshd', ['-D']);
    await until(`sshd answers on ${host.name}`, async () => {
      const said = await this.on(host, 'ss -ltn | grep -q :22');
      return said.code === 0 ? true : undefined;
    });
  }

  /** The words by which `weft` is run on any host. */
  readonly command = [process.execPath, join(repository, 'bin', 'weft.mjs')];

  /** The head's machine is gone with its disk. */
  async loseHead(): Promise<void> {
    await this.head.powerOff();
    await this.#running?.ended;
    this.#running = null;
  }

  /**
   * Another machine has the lost one's address and name from now on, and is where the head starts.
   */
  async takeOver(host: Host): Promise<void> {
    const { address, netns } = this.head;
    execFileSync('ip', ['-n', netns, 'addr', 'del', `${address}/24`, 'dev', 'eth0']);
    execFileSync('ip', ['-n', host.netns, 'addr', 'add', `${address}/24`, 'dev', 'eth0']);
    await this.ok(host, 'mkdir -p /run/weft');
    this.#address = address;
    this.head = host;
  }

  async startHead(...more: string[]): Promise<void> {
    const [node = '', weft = ''] = this.command;
    const args = [weft, 'head', '--listen', '0.0.0.0:5001', ...more];
    this.#running = await this.head.start(node, args, {
      env: { ...process.env, WEFT_DIR: '/var/lib/weft/head', WEFT_HEAD_NAMES: this.#address },
    });
    await until('the head answers', async () => {
      const said = await this.weft('info');
      return said.code === 0 ? true : undefined;
    });
  }

  /** A command line of root's on the head's machine. */
  weft(...args: string[]): Promise<Said> {
    return this.run(this.head, [...this.command, ...args]);
  }

  /** A shell script of root's on a machine. */
  on(host: Host, script: string): Promise<Said> {
    return this.run(host, ['sh', '-c', script]);
  }

  async ok(host: Host, script: string): Promise<string> {
    const { code, out, error } = await this.on(host, script);
    assert.equal(code, 0, `${host.name}: ${script}: ${out}${error}`);
    return out.trim();
  }

  run(host: Host, argv: readonly string[], setting: Pick<Setting, 'onOutput'> = {}): Promise<Said> {
    const env = { ...quickStarts(), PATH: process.env['PATH'], HOME: '/root', LANG: 'C.UTF-8' };
    return runProgram(host.enter(argv), { env, ...setting });
  }

  async close(): Promise<void> {
    this.#running?.resume();
    await this.lan.close();
    this.#forget();
  }
}
