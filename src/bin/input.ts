// Standard input of this process, as the command line sees it.

import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { isatty } from 'node:tty';
import type { Input, InputKind } from '../kernel/cli/jobs/input.ts';

export const standardInput: Input = {
  get kind() {
    return kindOf();
  },
  isReady,
  hasBytes,
  open: () => process.stdin,
};

function kindOf(): InputKind {
  if (isatty(0)) return 'terminal';
  try {
    const status = fstatSync(0);
    if (status.isFIFO() || status.isSocket()) return 'pipe';
    // A loop that reads its list line by line has it on our standard input too: it is not ours.
    return status.isFile() && status.size > 0 && position() === 0 ? 'file' : 'nothing';
  } catch {
    return 'nothing'; // Closed.
  }
}

/** How far somebody has read it: the file is open once, for us and for who started us. */
function position(): number {
  const info = readFileSync('/proc/self/fdinfo/0', 'utf8');
  return Number(/^pos:\s*(\d+)/m.exec(info)?.[1] ?? 0);
}

/** FIONREAD of ioctl_list(2): exits with 0 when there is a byte, 1 when there is none, or 2. */
const COUNT_BYTES = 'exit 2 unless ioctl STDIN, 0x541B, $n = pack "i", 0; exit !unpack "i", $n';

/** Node has no call that says it, and reading would take from who comes after us. */
function isReady(): boolean {
  if (kindOf() === 'file') return true;
  const counted = exitOf('perl', ['-e', COUNT_BYTES]);
  if (counted === 0 || counted === 1) return counted === 0;
  // Without Perl the end of a pipe passes for a byte.
  return exitOf('bash', ['-c', 'read -t 0']) === 0;
}

function exitOf(program: string, args: readonly string[]): number | null {
  // Not imported: hardly any command comes this way.
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  return spawnSync(program, args, { stdio: ['inherit', 'ignore', 'ignore'] }).status;
}

/** By a way of our own into the pipe, so that nobody else's reads stop blocking. */
function hasBytes(): boolean {
  if (kindOf() === 'file') return true;
  let own: number | null = null;
  try {
    own = openSync('/proc/self/fd/0', constants.O_RDONLY | constants.O_NONBLOCK);
    return readSync(own, Buffer.alloc(1)) > 0;
  } catch (error) {
    // EAGAIN: nothing now. ENXIO: a socket, which cannot be opened again.
    return (error as NodeJS.ErrnoException).code === 'ENXIO' && socketHasBytes();
  } finally {
    if (own !== null) closeSync(own);
  }
}

/** A socket that ended without a byte is ready too: sshd and Node give their children such. */
function socketHasBytes(): boolean {
  return isReady() && readSync(0, Buffer.alloc(1)) > 0;
}
