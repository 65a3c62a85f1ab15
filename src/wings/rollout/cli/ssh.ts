// The user's own ssh: its configuration, agent and jump hosts. Nobody sits there to type a
// password.

import { type ChildProcess, spawn } from 'node:child_process';
import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface How {
  /** Put before the shell: `sudo -n `. */
  readonly as: string;
  readonly timeoutMs: number;
}

export interface Answer {
  /** Null when a signal ended ssh. */
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

/** What a script may print; more is a machine that does something else. */
const OUTPUT_BYTES_MAX = 1_048_576;
/** What was printed before ssh ended is here by then; a shared connection keeps streams open. */
const LINGER_MS = 500;
/** How long ssh tries to reach a machine. */
const CONNECT_S = 15;

export class Ssh {
  /** Connections that several commands share are in this folder, which is the user's alone. */
  readonly #folder = mkdtempSync(join(tmpdir(), 'weft-ssh-'));
  readonly #children = new Set<ChildProcess>();
  #isStopped = false;

  /** Runs a shell there, with the script on its standard input. Rejects once it was stopped. */
  async script(host: string, text: string, how: How): Promise<Answer> {
    if (this.#isStopped) throw new Error('the command was ended');
    return await this.last(host, text, how);
  }

  /** The same, also once it was stopped. */
  last(host: string, text: string, { as, timeoutMs }: How): Promise<Answer> {
    return this.#run(host, `${as}sh -s`, { timeoutMs, feed: (stdin) => void stdin.end(text) });
  }

  /** Ends what it runs. */
  stop(): void {
    this.#isStopped = true;
    for (const child of this.#children) child.kill();
  }

  /** Runs a command there, with a file on its standard input. */
  send(
    host: string,
    command: string,
    { file, timeoutMs }: { file: string; timeoutMs: number },
  ): Promise<Answer> {
    return this.#run(host, command, {
      timeoutMs,
      feed: (stdin) => void createReadStream(file).pipe(stdin),
    });
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #run(
    host: string,
    command: string,
    { timeoutMs, feed }: { timeoutMs: number; feed(stdin: NodeJS.WritableStream): void },
  ): Promise<Answer> {
    const options = [
      'BatchMode=yes',
      `ConnectTimeout=${CONNECT_S}`,
      'ControlMaster=auto',
      `ControlPath=${join(this.#folder, '%C')}`,
      'ControlPersist=20',
    ].flatMap((one) => ['-o', one]);
    const child = spawn('ssh', [...options, '-T', '--', host, command], { stdio: 'pipe' });
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    this.#children.add(child);
    const out = gather(child.stdout);
    const error = gather(child.stderr);
    // One that ends before it has read everything says why by its exit code.
    child.stdin.on('error', () => undefined);
    feed(child.stdin);
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      // Not `close`: a shared connection goes on in the background, and keeps standard error open.
      child.once('exit', async (code) => {
        clearTimeout(timer);
        this.#children.delete(child);
        await Promise.race([Promise.all([out.ended, error.ended]), sleep(LINGER_MS)]);
        resolve({ code, out: out.text(), error: error.text() });
      });
    });
  }
}

interface Gathered {
  text(): string;
  readonly ended: Promise<void>;
}

function gather(stream: NodeJS.ReadableStream): Gathered {
  let text = '';
  stream.setEncoding('utf8');
  stream.on('data', (piece: string) => {
    if (text.length < OUTPUT_BYTES_MAX) text += piece;
  });
  const ended = new Promise<void>((resolve) => stream.once('end', resolve));
  return { text: () => text, ended };
}
