// Files over a line between two hosts: text, numbers and random bytes, in to a job and out of it
// again, beside rsync over the same line. Zstandard is chosen by a sample; random bytes go as they
// are. Hosts made of namespaces, the line by tc-tbf(8). Root.
// Usage: slow-line.ts [TIMES [MBIT_PER_S…]].

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { basename, join } from 'node:path';
import { HostedCluster, QUICK } from '../test/e2e/support/hosted-cluster.ts';
import { type Host, type Program, until } from '../test/e2e/support/hosts.ts';
import { cpuSeconds, figure } from './cluster.ts';
import { changeAll } from './files/data.ts';
import { numbers, sources } from './files/texts.ts';

const MIB = 1_048_576;
const BYTES = 64 * MIB;
const RSYNC_PORT = 8730;
const WEFT = join(import.meta.dirname, '..', 'bin', 'weft.mjs');
/** A file on a disk of memory counts for the task that writes it. */
const MEMORY = ['--memory', '512M'];
const KINDS = ['sources', 'numbers', 'random'] as const;
type Kind = (typeof KINDS)[number];

const times = Number(process.argv[2] ?? 3);
const rates = process.argv.length > 3 ? process.argv.slice(3).map(Number) : [100, 1000];
const cluster = await startWithRoom();
const scratch = join(cluster.directory, 'files');
try {
  const files = makeFiles();
  const rsync = await startRsync();
  for (const rate of rates) {
    for (const host of [cluster.head.host, worker().host]) limit(host, rate);
    console.error(`# ${rate} Mbit/s, load ${loadavg()[0]}`);
    for (const kind of KINDS) await measure(kind, files[kind], rate);
  }
  process.kill(rsync.pid);
  await rsync.ended;
} finally {
  await cluster.close();
}

async function startWithRoom(): Promise<HostedCluster> {
  const one = await HostedCluster.start(1, QUICK, { head: '5g', lastNode: '5g' });
  await one.killHead();
  one.blobBytesMax = 2 ** 32;
  await one.startHead();
  await one.nodesUp();
  return one;
}

function makeFiles(): Readonly<Record<Kind, string>> {
  mkdirSync(scratch);
  const contents = { sources: sources(BYTES), numbers: numbers(BYTES), random: randomBytes(BYTES) };
  const file = (kind: Kind): string => {
    const path = join(scratch, kind);
    writeFileSync(path, contents[kind]);
    return path;
  };
  return { sources: file('sources'), numbers: file('numbers'), random: file('random') };
}

/** In and out by turns with rsync without and with its own compression. */
async function measure(kind: Kind, file: string, rate: number): Promise<void> {
  const taken = { in: [] as number[], out: [] as number[] };
  const sent = { in: [] as number[], out: [] as number[] };
  const cpu: number[] = [];
  const plain: number[] = [];
  const zipped: number[] = [];
  for (let at = 0; at < times; at += 1) {
    changeAll(file);
    // The head has it before the clock runs: what is measured is the line.
    weft('run', '--hold', '--in', file, '--', 'true');
    const from = { wire: wireBytes(), cpu: ownCpu() };
    taken.in.push(
      took(() => weft('run', '--wait', ...MEMORY, '--in', file, '--out', 'none', '--', 'true')),
    );
    sent.in.push(wireBytes().received - from.wire.received);
    cpu.push(ownCpu() - from.cpu);
    const before = wireBytes().sent;
    const other = `tr 0123 3210 < ${kind} > other`;
    taken.out.push(
      took(() =>
        weft('run', '--wait', ...MEMORY, '--in', file, '--out', 'other', '--', 'sh', '-c', other),
      ),
    );
    sent.out.push(wireBytes().sent - before);
    plain.push(await rsyncSeconds(file));
    zipped.push(await rsyncSeconds(file, '-z'));
  }
  const more = { mbit: rate, mib: BYTES / MIB };
  const name = `line_${rate}_${kind}`;
  figure(`${name}_in`, 's', taken.in, more);
  figure(`${name}_in_sent`, 'MiB', sent.in.map(inMib), more);
  figure(`${name}_in_cpu`, 's', cpu, { ...more, what: 'head and agent' });
  figure(`${name}_out`, 's', taken.out, more);
  figure(`${name}_out_sent`, 'MiB', sent.out.map(inMib), more);
  figure(`${name}`, 's', plain, { ...more, peer: 'rsync daemon' });
  figure(`${name}_z`, 's', zipped, { ...more, peer: 'rsync daemon, -z' });
}

function worker(): HostedCluster['members'][number] {
  return cluster.member('n1');
}

/** Limits what the host sends from now on. */
function limit({ netns }: Host, mbit: number): void {
  const rule = ['root', 'tbf', 'rate', `${mbit}mbit`, 'burst', '256kb', 'latency', '50ms'];
  const inside = [`--net=/run/netns/${netns}`, 'tc', 'qdisc', 'replace', 'dev', 'eth0'];
  execFileSync('nsenter', [...inside, ...rule]);
}

/** Bytes that the node's line has carried so far, with their headers. */
function wireBytes(): { readonly received: number; readonly sent: number } {
  const [enter = '', ...words] = worker().host.enter(['cat', '/proc/net/dev']);
  const table = execFileSync(enter, words, { encoding: 'utf8' });
  const fields = /eth0:\s*(.*)/.exec(table)?.[1]?.trim().split(/\s+/) ?? [];
  const [received, sent] = [fields[0], fields[8]];
  if (received === undefined || sent === undefined) throw new Error(`no eth0 in ${table}`);
  return { received: Number(received), sent: Number(sent) };
}

/** Seconds of cores that head and agent have taken. */
function ownCpu(): number {
  return cpuSeconds(cluster.head.program.pid) + cpuSeconds((worker().agent as Program).pid);
}

async function startRsync(): Promise<Program> {
  const config = join(cluster.directory, 'rsyncd.conf');
  const module = `[all]\npath = ${scratch}\nread only = yes\n`;
  writeFileSync(config, `uid = root\ngid = root\nuse chroot = no\n${module}`);
  const args = ['--daemon', '--no-detach', `--port=${RSYNC_PORT}`, `--config=${config}`];
  const daemon = await cluster.head.host.start('rsync', args);
  await until('the rsync daemon answers', () => listens() || undefined);
  return daemon;
}

function listens(): boolean {
  const [enter = '', ...words] = cluster.head.host.enter(['cat', '/proc/net/tcp']);
  const port = RSYNC_PORT.toString(16).toUpperCase();
  return new RegExp(`:${port} [0-9A-F:]+ 0A`).test(
    execFileSync(enter, words, { encoding: 'utf8' }),
  );
}

async function rsyncSeconds(file: string, ...flags: string[]): Promise<number> {
  const from = performance.now();
  const url = `rsync://${cluster.head.host.address}:${RSYNC_PORT}/all/${basename(file)}`;
  const args = ['-a', '--ignore-times', '--whole-file', ...flags, url, '/tmp/'];
  const code = await (await worker().host.start('rsync', args)).ended;
  if (code !== 0) throw new Error(`rsync ${args.join(' ')}: exit code ${code}`);
  return (performance.now() - from) / 1000;
}

function weft(...words: string[]): void {
  const env = { ...process.env, WEFT_SOCKET: cluster.socketPath };
  execFileSync(process.execPath, [WEFT, ...words], { env, stdio: ['ignore', 'ignore', 'inherit'] });
}

function took(work: () => void): number {
  const from = performance.now();
  work();
  return (performance.now() - from) / 1000;
}

function inMib(bytes: number): number {
  return bytes / MIB;
}
