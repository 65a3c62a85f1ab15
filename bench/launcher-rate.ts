// How many processes a second the launcher starts and reports the ends of, beside a bare
// posix_spawn loop in C from the same minute. Usage: launcher-rate.ts [COUNT]

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AnswerReader } from '../src/kernel/agent/launcher-answers.ts';
import { RequestWriter } from '../src/kernel/agent/launcher-wire.ts';
import { ensureLauncher } from '../src/kernel/os/launcher-build.ts';

const WINDOW = 64;
const count = Number(process.argv[2] ?? 5000);
const folder = mkdtempSync(join(tmpdir(), 'weft-bench-'));

async function connected(path: string): Promise<Socket> {
  for (;;) {
    const socket = connect(path);
    const open = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    if (open) return socket;
  }
}

/** Starts `count` times /bin/true with WINDOW outstanding; seconds until the last end is known. */
async function run(socket: Socket): Promise<number> {
  const reader = new AnswerReader();
  const writer = new RequestWriter();
  let started = 0;
  let ended = 0;
  const start = (): void => {
    writer.spawn({
      id: ++started,
      setIds: null,
      append: false,
      byUmask: false,
      nice: 0,
      umask: 0o022,
      cwd: '/',
      argv: ['/bin/true'],
      environment: ['PATH=/usr/bin:/bin', `WEFT_LAUNCH=bench-${started}`],
      stdin: '',
      stdout: '',
      stderr: '',
      limits: [],
      cgroupProcs: [],
      makeParents: false,
      leaseMs: null,
    });
  };
  const from = performance.now();
  writer.hello();
  while (started < Math.min(WINDOW, count)) start();
  socket.write(writer.take());
  await new Promise<void>((resolve) => {
    socket.on('data', (bytes: Buffer) => {
      for (const answer of reader.push(bytes)) {
        if (answer.kind === 'failed' || answer.kind === 'error') throw new Error(answer.kind);
        if (answer.kind !== 'exited') continue;
        writer.forget(answer.id);
        if (++ended === count) resolve();
        if (started < count) start();
      }
      if (!writer.isEmpty) socket.write(writer.take());
    });
  });
  return (performance.now() - from) / 1000;
}

function posixSpawn(program: string, processes: number): number {
  return Number(execFileSync(program, [String(count), String(processes)], { encoding: 'utf8' }));
}

const bar = join(folder, 'posix-spawn');
const source = fileURLToPath(new URL('posix-spawn.c', import.meta.url));
execFileSync('cc', ['-O2', source, '-o', bar]);
const { kind, command } = await ensureLauncher(folder);
const path = join(folder, 'socket');
const [program = '', ...first] = command;
const child = spawn(program, [...first, '--socket', path], { stdio: 'inherit', detached: true });
const posixSpawnOne = posixSpawn(bar, 1);
const posixSpawnTwo = posixSpawn(bar, 2);
const socket = await connected(path);
const seconds = await run(socket);
const rss = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1];
const goodbye = new RequestWriter();
goodbye.shutdown();
const exited = once(child, 'exit');
socket.write(goodbye.take());
await exited;
socket.destroy();
rmSync(folder, { recursive: true });
console.log(
  JSON.stringify({
    name: 'launcher-rate',
    launcher: kind,
    count,
    window: WINDOW,
    perSecond: Math.round(count / seconds),
    posixSpawnOne,
    posixSpawnTwo,
    launcherRssKib: Number(rss),
    process: '/bin/true, real',
    durable: false,
    cpus: cpus().length,
  }),
);
