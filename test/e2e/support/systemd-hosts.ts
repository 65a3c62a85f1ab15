// Hosts that systemd has booted, each with its own file systems, network and groups: what units do
// there is what they do on a machine. Needs root.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { endNow, whenKilled } from '../../support/when-killed.ts';
import { type Host, ifThere, Lan, type Program, until } from './hosts.ts';
import { runProgram, type Said } from './local-cluster.ts';

/** Moves into groups of its own, $1, before a namespace makes those the root. */
const GROUPS = `for name in systemd unified memory pids cpu freezer; do
  at=/sys/fs/cgroup/$name/; [ -d $at ] || continue
  mkdir -p "$at$1" && echo $$ > "$at$1/cgroup.procs" || true
done
exec 3>&2
exec unshare -C -m -p -f --kill-child sh -c "exec 2>&3; $2" boot 2>/dev/null`;

/**
 * The first process, which then is systemd: with little to start, and nothing of the machine below
 * it.
 */
const BOOT = `set -e
mount -t proc proc /proc; mount -t tmpfs -o mode=0755 run /run
mount -t tmpfs -o mode=0755 groups /sys/fs/cgroup
for name in systemd memory pids cpu freezer; do
  case $name in systemd) of=none,name=systemd;; *) of=$name;; esac
  mkdir /sys/fs/cgroup/$name; mount -t cgroup -o $of groups /sys/fs/cgroup/$name || rmdir /sys/fs/cgroup/$name
done
[ -d /sys/fs/cgroup/memory ] || { umount /sys/fs/cgroup; mount -t cgroup2 groups /sys/fs/cgroup; }
uname -n > /etc/hostname; rm -rf /etc/systemd/system/*.wants
exec env -i container=weft PATH=/usr/local/bin:/usr/bin:/bin /usr/lib/systemd/systemd --system --unit=basic.target`;

export class SystemdHosts {
  readonly lan: Lan;
  readonly #booted: Booted[] = [];
  readonly #forget = whenKilled(() => this.lan.closeNow());

  /** `shared`: folders that all hosts have. */
  constructor(shared: readonly string[]) {
    this.lan = new Lan(shared);
  }

  async boot(name: string): Promise<Booted> {
    const host = await this.lan.addHost(name);
    const booted = await Booted.start(host);
    this.#booted.push(booted);
    return booted;
  }

  async close(): Promise<void> {
    for (const one of this.#booted) await one.off();
    await this.lan.close();
    this.#forget();
  }
}

export class Booted {
  readonly host: Host;
  readonly #first: Program;
  readonly #init: number;
  readonly #groups: string;

  private constructor(host: Host, first: Program, init: number, groups: string) {
    this.host = host;
    this.#first = first;
    this.#init = init;
    this.#groups = groups;
  }

  static async start(host: Host): Promise<Booted> {
    const groups = host.netns;
    const first = await host.start('sh', ['-c', GROUPS, 'groups', groups, BOOT]);
    const init = await until(`systemd begins on ${host.name}`, () => {
      const path = `/proc/${first.pid}/task/${first.pid}/children`;
      const child = readFileSync(path, 'utf8').trim().split(' ')[0] ?? '';
      // Before it there are others, each for a moment.
      const name = ifThere(() => readFileSync(`/proc/${child}/comm`, 'utf8'));
      return name === 'systemd\n' ? Number(child) : undefined;
    });
    const booted = new Booted(host, first, init, groups);
    await until(`systemd is up on ${host.name}`, async () => {
      const { out } = await booted.on('systemctl is-system-running');
      return /running|degraded/.test(out) || undefined;
    });
    return booted;
  }

  /** A shell script of root's there. */
  on(script: string): Promise<Said> {
    const spaces = ['-m', '-p', '-u', '-n', '-i', '-C', '--wd=/', '--'];
    const env = {
      PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      HOME: '/root',
      LANG: 'C.UTF-8',
    };
    return runProgram(['nsenter', '-t', String(this.#init), ...spaces, 'sh', '-c', script], {
      env,
    });
  }

  async ok(script: string): Promise<string> {
    const { code, out, error } = await this.on(script);
    assert.equal(code, 0, `${this.host.name}: ${script}: ${out}${error}`);
    return out.trim();
  }

  async off(): Promise<void> {
    endNow(this.#init, 'SIGKILL');
    await this.#first.ended;
    // A group goes when nothing is in it.
    const below = `find /sys/fs/cgroup -depth -type d -path '*/${this.#groups}*' -exec rmdir {} + 2>/dev/null || true`;
    execFileSync('sh', ['-c', below]);
  }
}
