// What else moves files on this machine: an rsync daemon, curl from a web server, tar through a
// pipe. None of them syncs what it has written, or keeps a name for it.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcp } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A daemon with one module, `all`, which is a folder. */
export class RsyncDaemon {
  readonly #process: ChildProcess;
  readonly #port: number;

  private constructor(process: ChildProcess, port: number) {
    this.#process = process;
    this.#port = port;
  }

  static async start(scratch: string, folder: string): Promise<RsyncDaemon> {
    const port = await freePort();
    mkdirSync(folder, { recursive: true });
    const config = join(scratch, 'rsyncd.conf');
    const owner = process.getuid?.() === 0 ? 'uid = root\ngid = root\n' : '';
    writeFileSync(
      config,
      `${owner}use chroot = no\n[all]\npath = ${folder}\nread only = no\nmunge symlinks = no\n`,
    );
    const args = ['--daemon', '--no-detach', '--address=127.0.0.1'];
    const daemon = spawn('rsync', [...args, `--port=${port}`, `--config=${config}`], {
      stdio: 'inherit',
    });
    while (!(await isListening(port))) await sleep(20);
    return new RsyncDaemon(daemon, port);
  }

  url(name: string): string {
    return `rsync://127.0.0.1:${this.#port}/all/${name}`;
  }

  stop(): void {
    this.#process.kill();
  }
}

/** Serves one file to whoever asks. */
export async function serveFile(file: string): Promise<{ url: string; server: Server }> {
  const server = createServer((_, response) => createReadStream(file).pipe(response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, server };
}

/** Seconds of a shell's line; throws when it fails. */
export async function timeLine(line: string): Promise<number> {
  const from = performance.now();
  const child = spawn('bash', ['-c', `set -o pipefail; ${line}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${line}: exit code ${code}`);
  return (performance.now() - from) / 1000;
}

export function isInstalled(program: string): boolean {
  if (spawnSync('which', [program]).status === 0) return true;
  console.error(`# ${program}: not installed here`);
  return false;
}

async function freePort(): Promise<number> {
  const server = createTcp().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false; // Not yet.
  } finally {
    socket.destroy();
  }
}
