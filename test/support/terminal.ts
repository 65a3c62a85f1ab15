// A program on a pseudo terminal of its own, which reads what is typed there.

import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface RealTerminal {
  /** The name below /dev: `pts/3`. */
  readonly name: string;
  type(text: string): void;
  close(): Promise<void>;
}

export async function openTerminal(): Promise<RealTerminal> {
  const child = spawn('script', ['-qfc', 'exec cat', '/dev/null'], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const until = performance.now() + 60_000;
  for (;;) {
    const name = terminalBelow(child.pid ?? 0);
    if (name !== null) {
      return { name, type: (text) => void child.stdin?.write(text), close: () => end(child) };
    }
    if (performance.now() > until) throw new Error('script(1) opened no terminal');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function terminalBelow(parent: number): string | null {
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
      if (Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]) !== parent) continue;
      const file = readlinkSync(`/proc/${pid}/fd/0`);
      if (file.startsWith('/dev/pts/')) return file.slice('/dev/'.length);
    } catch {
      // It has ended meanwhile.
    }
  }
  return null;
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}
