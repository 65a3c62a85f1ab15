// What this machine has: CPUs and memory that its cgroup and affinity leave, gpus, labels, disk.

import { readFileSync, readlinkSync, statfsSync } from 'node:fs';
import {
  arch,
  availableParallelism,
  freemem,
  hostname,
  loadavg,
  networkInterfaces,
  release,
  totalmem,
} from 'node:os';
import { systemCommands } from './commands.ts';
import { isOnPath } from './container-runtimes.ts';
import { statFields } from './environment-of.ts';

/** A hung driver must not keep the node from joining. */
const GPU_TIMEOUT_MS = 5000;
const OUTPUT_LENGTH_MAX = 100_000;

export interface Found {
  readonly cpuCount: number;
  readonly memoryBytes: number;
  readonly gpuCount: number;
  readonly labels: readonly string[];
}

/** `diskPath` is where job files go. */
export async function detectMachine(): Promise<Found> {
  const labels = [`os=linux`, `arch=${arch()}`];
  const gpuCount = await countGpus();
  return {
    // libuv counts the affinity mask and the cgroup's quota, rounded down to at least one.
    cpuCount: availableParallelism(),
    // Node looks up the limit of its own cgroup, of either version; 0 means that it does not know.
    memoryBytes: Math.min(totalmem(), process.constrainedMemory() || totalmem()),
    gpuCount,
    labels: gpuCount > 0 ? [...labels, 'gpu'] : labels,
  };
}

/** What all nodes of a machine say of it in their heartbeats. */
export interface MachineLoad {
  readonly load1: number;
  readonly memoryFreeBytes: number;
}

const LOAD_FRESH_MS = 500;

/** For the nodes of one process, which beat by turns: those of half a second share one look. */
export function sharedLoad(
  monotonic: () => number,
  look: () => MachineLoad = readLoad,
): () => MachineLoad {
  let last: { readonly at: number; readonly load: MachineLoad } | null = null;
  return () => {
    const at = monotonic();
    if (last === null || at - last.at >= LOAD_FRESH_MS) last = { at, load: look() };
    return last.load;
  };
}

function readLoad(): MachineLoad {
  return { load1: loadavg()[0] ?? 0, memoryFreeBytes: freemem() };
}

export function diskFree(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

export function diskSize(path: string): number {
  const { blocks, bsize } = statfsSync(path);
  return blocks * bsize;
}

/** Every interface but the loopback: name, addresses, and speed where the kernel knows it. */
export function describeNetwork(): string {
  const known = Object.entries(networkInterfaces()).flatMap(([name, addresses = []]) => {
    const outside = addresses.filter(({ internal, address }) => !internal && !isLinkLocal(address));
    const texts = outside.map(({ address }) => address);
    return texts.length === 0 ? [] : [[name, ...texts, ...speedOf(name)].join(' ')];
  });
  return known.length === 0 ? 'loopback only' : known.join(', ');
}

function isLinkLocal(address: string): boolean {
  return address.startsWith('fe80:');
}

function speedOf(name: string): string[] {
  try {
    const speed = Number(readFileSync(`/sys/class/net/${name}/speed`, 'utf8'));
    return speed > 0 ? [`${speed}Mb/s`] : [];
  } catch {
    return []; // Bridges, tunnels and cards without a cable have none.
  }
}

/**
 * Names one start of this machine: everything that ran under another id is gone. A container is a
 * machine of its own: its process table starts anew while the kernel's boot id (random(4)) stays.
 * Where the first process of the table is hidden (hidepid, a unit's ProtectProc) the table alone
 * counts.
 */
export function readBootId(): string {
  const kernel = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  const table = readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
  return `${kernel}/${table}/${statFields(1)?.[19] ?? 'hidden'}`;
}

export function describeSystem(): { os: string; arch: string; kernel: string; hostname: string } {
  return { os: osName(), arch: arch(), kernel: release(), hostname: hostname() };
}

function osName(): string {
  try {
    const text = readFileSync('/etc/os-release', 'utf8');
    return /^PRETTY_NAME="?([^"\n]+)/m.exec(text)?.[1] ?? 'Linux';
  } catch {
    return 'Linux'; // The file is a convention, not a promise.
  }
}

/** Cards of all makers together; one that is cut counts as its slices. */
async function countGpus(): Promise<number> {
  const counts = await Promise.all([
    lines('nvidia-smi', ['-L']).then(countCards),
    lines('amd-smi', ['list', '--json']).then((amd) => countOf(amd, '"bdf"') || countByRocm()),
    lines('xpu-smi', ['discovery', '-j']).then((intel) => countOf(intel, '"pci_bdf_address"')),
  ]);
  return counts.reduce((sum, count) => sum + count, 0);
}

/** `GPU 0: …`, and below it its slices. */
function countCards(listed: readonly string[]): number {
  const found = listed.filter((line) => /^(GPU \d+:|\s+MIG ).*\(UUID: /.test(line));
  const isCut = (at: number): boolean => found[at + 1]?.startsWith(' ') === true;
  return found.filter((line, at) => line.startsWith(' ') || !isCut(at)).length;
}

function countOf(printed: readonly string[], word: string): number {
  return printed.join('').split(word).length - 1;
}

async function countByRocm(): Promise<number> {
  const rocm = await lines('rocm-smi', ['--showid', '--csv']);
  return rocm.filter((line) => /^card\d+/.test(line)).length;
}

async function lines(program: string, args: readonly string[]): Promise<string[]> {
  if (!isOnPath(program)) return [];
  const { code, output } = await systemCommands.run({
    argv: [program, ...args],
    timeoutMs: GPU_TIMEOUT_MS,
    keep: { part: 'first', length: OUTPUT_LENGTH_MAX },
  });
  // One card that is lost makes it fail, after it has named the others.
  return code !== null ? output.split('\n').filter((line) => line.trim() !== '') : [];
}
