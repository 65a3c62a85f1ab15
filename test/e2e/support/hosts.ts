// Several hosts on one machine: each has its own network, host name, process table and file
// systems, joined by a bridge in a namespace of its own. Needs root, iproute2, util-linux and tini.
// Traffic stays inside, and so does what is written, but in the directories that a test shares on
// purpose.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endNow } from '../../support/when-killed.ts';

const PREFIX = `wf${process.pid}`;
const SWITCH = `${PREFIX}-sw`;
const CABLE_MAX = 15; // IFNAMSIZ - 1: longer interface names are refused.
const REPOSITORY = join(import.meta.dirname, '..', '..', '..');
/** Programs of the tests, wherever somebody has put them. */
const ALWAYS_SHARED = [REPOSITORY, dirname(process.execPath)];

/**
 * The file systems of a host, as its first process makes them of the folder \$1: these directories
 * begin as the machine has them and keep what the host writes; /tmp and /dev/shm are its own. What
 * follows \$2 is the same on all hosts: an arrow and its source stand before one that is elsewhere.
 */
const FILE_SYSTEMS = `
disk=$1; names=$2; shift 2
for place in etc var/lib root home opt usr/local; do
  d=$disk/$place; mkdir -p $d/up $d/work $d/all
  mount -t overlay -o lowerdir=/$place,upperdir=$d/up,workdir=$d/work weft $d/all
done
mkdir -p -m 1777 $disk/tmp/all; mount --bind $disk/tmp/all $disk/tmp/all
for pair; do
  from=\${pair%%=>*}; to=\${pair#*=>}; at=$to
  for place in etc var/lib root home opt usr/local tmp; do
    case $to/ in /$place/*) at=$disk/$place/all\${to#/$place};; esac
  done
  [ "$at" = "$from" ] || { mkdir -p "$at"; mount --rbind "$from" "$at"; }
done
mount --bind $names $disk/etc/all/hosts
for place in etc var/lib root home opt usr/local tmp; do mount --rbind $disk/$place/all /$place; done
mount -t tmpfs -o mode=1777 weft /dev/shm`;

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** The switch that all hosts of this test process hang on. */
export class Lan {
  readonly hosts: Host[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), 'weft-lan-'));
  readonly #names = join(this.#folder, 'hosts');
  readonly #shared: readonly string[];

  /** `shared`: directories that all hosts have, with what is mounted in them when they start. */
  constructor(shared: readonly string[]) {
    this.#shared = [...ALWAYS_SHARED, ...shared];
    writeFileSync(this.#names, '127.0.0.1 localhost\n');
    removeStale();
    ip('netns', 'add', SWITCH);
    ip('-n', SWITCH, 'link', 'add', 'br0', 'type', 'bridge');
    ip('-n', SWITCH, 'link', 'set', 'br0', 'up');
  }

  /**
   * `disk`: where it finds a directory of this machine that the others do not have; `shared`: what
   * it shares with this machine alone.
   */
  async addHost(
    name: string,
    disk: Disk | null = null,
    shared: readonly string[] = [],
  ): Promise<Host> {
    const folder = join(this.#folder, name);
    mkdirSync(folder);
    const own = disk === null ? [] : [`${disk.from}=>${disk.to}`];
    const same = [...shared, ...this.#shared].map((path) => `${path}=>${path}`);
    const address = `10.77.0.${this.hosts.length + 1}`;
    const host = new Host(name, address, [folder, this.#names, ...same, ...own]);
    appendFileSync(this.#names, `${host.address} ${name}\n`);
    this.hosts.push(host);
    await host.powerOn();
    return host;
  }

  /** Ends everything that runs on any host and removes the networks. */
  async close(): Promise<void> {
    for (const host of this.hosts) {
      await host.powerOff();
      ip('netns', 'del', host.netns);
    }
    ip('netns', 'del', SWITCH);
    rmSync(this.#folder, { recursive: true });
  }

  /** The same, without waiting for events: for a process that is being killed. */
  closeNow(): void {
    for (const host of this.hosts) {
      host.powerOffNow();
      ip('netns', 'del', host.netns);
    }
    ip('netns', 'del', SWITCH);
    rmSync(this.#folder, { recursive: true });
  }
}

/**
 * What an earlier test process left behind when it was killed: its networks and their processes.
 */
function removeStale(): void {
  const listed = execFileSync('ip', ['netns', 'list'], { encoding: 'utf8' });
  for (const name of listed.split('\n').map((line) => line.split(' ')[0] ?? '')) {
    const owner = /^wf(\d+)-/.exec(name)?.[1];
    if (owner === undefined || existsSync(`/proc/${owner}`)) continue;
    const pids = execFileSync('ip', ['netns', 'pids', name], { encoding: 'utf8' }).trim();
    for (const pid of pids.split('\n').filter((one) => one !== '')) endNow(Number(pid), 'SIGKILL');
    ip('netns', 'del', name);
  }
}

/** A directory of this machine, and where its host has it. */
export interface Disk {
  readonly from: string;
  readonly to: string;
}

export class Host {
  readonly name: string;
  readonly address: string;
  readonly netns: string;
  readonly #cable: string;
  readonly #files: readonly string[];
  #root: ChildProcess | null = null;
  #init = 0;

  /** `files`: the arguments of what makes its file systems. */
  constructor(name: string, address: string, files: readonly string[]) {
    this.#files = files;
    this.name = name;
    this.address = address;
    this.netns = `${PREFIX}-${name}`;
    this.#cable = `v-${name}`.slice(0, CABLE_MAX);
    ip('netns', 'add', this.netns);
    ip(
      '-n',
      this.netns,
      'link',
      'add',
      'eth0',
      'type',
      'veth',
      'peer',
      'name',
      this.#cable,
      'netns',
      SWITCH,
    );
    ip('-n', SWITCH, 'link', 'set', this.#cable, 'master', 'br0', 'up');
    ip('-n', this.netns, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
    ip('-n', this.netns, 'link', 'set', 'eth0', 'up');
    ip('-n', this.netns, 'link', 'set', 'lo', 'up');
  }

  /** Starts the host's first process; its end is the end of everything on the host. */
  async powerOn(): Promise<void> {
    // What cannot be mounted is said; what its end does to nsenter and unshare is not.
    const last = 'exec 2>/dev/null 3>&-; exec tini -s -- sleep infinity';
    const start = `exec 2>&3; set -e${FILE_SYSTEMS}; hostname ${this.name}; ${last}`;
    const unshare = ['unshare', '-u', '-i', '-p', '-m', '-f', '--kill-child', '--mount-proc'];
    const shell = ['sh', '-c', start, this.name, ...this.#files];
    const args = [`--net=/run/netns/${this.netns}`, ...unshare, ...shell];
    this.#root = spawn('nsenter', args, { stdio: ['ignore', 'ignore', 'ignore', 'inherit'] });
    const root = this.#root.pid ?? 0;
    this.#init = await until(`host ${this.name} is up`, () => {
      const [init] = childrenOf(root);
      if (init === undefined) return undefined;
      return commandLine(init).startsWith('tini ') ? init : undefined;
    });
  }

  /** Power off: the kernel kills every process of the host at once. */
  async powerOff(): Promise<void> {
    const root = this.#root;
    if (root === null) return;
    this.#root = null;
    const gone = new Promise((resolve) => root.once('exit', resolve));
    process.kill(this.#init, 'SIGKILL');
    await gone;
  }

  powerOffNow(): void {
    if (this.#root !== null) endNow(this.#init, 'SIGKILL');
    this.#root = null;
  }

  /** Starts a program on the host; `pid` is that of the program itself, as this machine sees it. */
  async start(
    command: string,
    args: readonly string[],
    options: StartOptions = {},
  ): Promise<Program> {
    const [enter = '', ...argv] = this.enter([command, ...args]);
    const child = spawn(enter, argv, {
      stdio: ['ignore', options.stdout ?? 'ignore', options.stderr ?? 'inherit'],
      env: { ...process.env, ...options.env },
    });
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    const pid = await until(`${command} runs on ${this.name}`, () => childrenOf(child.pid ?? 0)[0]);
    // A stopped child stops nsenter, which then would not see the child's end either.
    const resume = (): void => {
      for (const one of [pid, child.pid ?? 0]) process.kill(one, 'SIGCONT');
    };
    return { pid, ended, resume };
  }

  /** The words with which this machine runs a program on the host. */
  enter(argv: readonly string[]): string[] {
    const spaces = ['-u', '-i', '-n', '-p', '-m', '--wd=/', '--'];
    return ['nsenter', '-t', String(this.#init), ...spaces, ...argv];
  }

  /** Nothing gets through any more, in both directions. */
  cut(): void {
    ip('-n', SWITCH, 'link', 'set', this.#cable, 'down');
  }

  rejoin(): void {
    ip('-n', SWITCH, 'link', 'set', this.#cable, 'up');
  }

  /** What this host sends is lost; what others send still arrives. */
  muteOutgoing(): void {
    this.#iptables('-A');
  }

  unmuteOutgoing(): void {
    this.#iptables('-D');
  }

  #iptables(action: '-A' | '-D'): void {
    const rule = [action, 'OUTPUT', '-o', 'eth0', '-j', 'DROP'];
    execFileSync('nsenter', [`--net=/run/netns/${this.netns}`, 'iptables', ...rule]);
  }

  /**
   * Command lines of all processes of the host but its first ones. By its own table of processes:
   * lists of children may pass over some as others end (proc(5)).
   */
  processes(): string[] {
    const table = `/proc/${this.#init}/root/proc`;
    const pids = readdirSync(table).filter((name) => /^\d+$/.test(name) && name !== '1');
    const lines = pids.map((pid) => commandLine(pid, table));
    return lines.filter((line) => line !== '' && line !== 'sleep infinity');
  }
}

export interface StartOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly stdout?: number;
  readonly stderr?: number;
}

export interface Program {
  readonly pid: number;
  /** With its exit code; null: a signal ended it. */
  readonly ended: Promise<number | null>;
  /** Lets it go on after a SIGSTOP. */
  resume(): void;
}

/** Empty for zombies and for processes that are gone. */
export function commandLine(pid: number | string, table = '/proc'): string {
  const line = ifThere(() => readFileSync(`${table}/${pid}/cmdline`, 'utf8')) ?? '';
  return line.replaceAll('\0', ' ').trim();
}

/** Undefined for a process that is gone. */
export function parentOf(pid: string): string | undefined {
  const status = ifThere(() => readFileSync(`/proc/${pid}/status`, 'utf8')) ?? '';
  return /^PPid:\t(\d+)$/m.exec(status)?.[1];
}

/** Each thread of a process has a list of its own; a thread, too, may end while one reads. */
function childrenOf(pid: number): number[] {
  const threads = ifThere(() => readdirSync(`/proc/${pid}/task`)) ?? [];
  return threads.flatMap((thread) => {
    const path = `/proc/${pid}/task/${thread}/children`;
    const text = ifThere(() => readFileSync(path, 'utf8').trim()) ?? '';
    return text === '' ? [] : text.split(' ').map(Number);
  });
}

/** Undefined when the process has gone. */
export function ifThere<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return undefined;
    throw error;
  }
}

/**
 * What is waited for comes in a fraction of this, but on a machine that is busy with other things.
 */
const PATIENCE_MS = 120_000;

/** Polls until the condition gives a value; fails with what was waited for. */
export async function until<T>(
  what: string,
  condition: () => T | undefined | Promise<T | undefined>,
  timeoutMs = PATIENCE_MS,
): Promise<T> {
  const begunAt = performance.now();
  for (;;) {
    const askedAt = performance.now();
    const value = await condition();
    if (value !== undefined && value !== false) return value;
    const now = performance.now();
    if (now > begunAt + timeoutMs) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await sleep(pauseMs(now - askedAt, now - begunAt));
  }
}

/** A question that takes longer has started a program, most likely. */
const CHEAP_MS_MAX = 50;

/**
 * How long to wait before the same question is asked again: questions must not take the machine
 * from what they wait for. What has been waited for long may be seen a tenth of that later.
 */
function pauseMs(questionMs: number, waitedMs: number): number {
  const longest = questionMs < CHEAP_MS_MAX ? 250 : 1000;
  return Math.min(longest, Math.max(25, 2 * questionMs, waitedMs / 10));
}
