// Reads /proc/*/cmdline over and over for words that it is told on its standard input, a list in
// JSON in one line; at the end of the input it writes what it found.

import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const PAUSE_MS = 40;
const SHOWN = 300;

const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const secrets = JSON.parse((await input.next()).value as string) as string[];
let isOver = false;
void input.next().then(() => {
  isOver = true;
});

const found = new Map<string, { secret: number; line: string }>();
let [scans, lines] = [0, 0];
while (!isOver) {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) look(pid);
  scans += 1;
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
// Who has asked may be gone.
process.stdout.on('error', () => process.exit(1));
process.stdout.write(JSON.stringify({ scans, lines, found: [...found.values()] }));

function look(pid: string): void {
  const line = lineOf(pid);
  if (line === '') return;
  lines += 1;
  for (const [secret, word] of secrets.entries()) {
    if (!line.includes(word)) continue;
    const shown = line.replaceAll(word, '<secret>').slice(0, SHOWN);
    found.set(`${secret} ${shown}`, { secret, line: shown });
  }
}

/** Empty for one that has gone. */
function lineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return '';
    throw error;
  }
}
