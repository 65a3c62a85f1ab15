// The Commands port: each command runs in a process group of its own, so that all of it can be
// ended. What it gets of this program's variables is all but those for this program itself, or
// those that are named.

import { type ChildProcess, spawn } from 'node:child_process';
import { formatDuration } from '../base/duration.ts';
import { withoutOwn } from '../base/own-variables.ts';
import type { Command, CommandEnd, Commands } from '../ports/commands.ts';
import { countMembers } from './launcher-fallback/members.ts';
import { ticksNow } from './process-list.ts';

/** After the end of the command, for what is still in the pipes. */
const PIPES_MS = 500;

/** Variables that say whose program this is, which is wrong for a command of another user. */
const OF_ACCOUNT = new Set(['HOME', 'USER', 'LOGNAME']);

export const systemCommands: Commands = { run: (command) => run(command, withoutOwn(process.env)) };

/**
 * Commands with no more of this program's variables than these; `SGE_*` are all that begin so.
 * Those of Weft are never among them: some are secrets.
 */
export function commandsWith(names: readonly string[]): Commands {
  const isNamed = (variable: string): boolean =>
    names.some((name) => {
      return name.endsWith('*') ? variable.startsWith(name.slice(0, -1)) : variable === name;
    });
  return {
    run(command) {
      const isOthers = command.user !== undefined && command.user.uid !== process.getuid?.();
      const handedOn = Object.entries(withoutOwn(process.env)).filter(([variable]) => {
        if (variable.startsWith('WEFT_') || (isOthers && OF_ACCOUNT.has(variable))) return false;
        return isNamed(variable);
      });
      return run(command, Object.fromEntries(handedOn));
    },
  };
}

/**
 * Takes on groups, group and user, in this order, and becomes the program: `spawn` of Node.js drops
 * all supplementary groups and has no option for them.
 */
const BECOME = `const [uid, gid, groups, ...argv] = process.argv.slice(1);
process.setgroups(groups.split(',').map(Number));
process.setgid(Number(gid));
process.setuid(Number(uid));
process.execve('/usr/bin/env', ['env', ...argv], process.env);`;
const NODE = [process.execPath, '--disable-warning=ExperimentalWarning', '-e', BECOME, '--'];

function run(command: Command, variables: Readonly<NodeJS.ProcessEnv>): Promise<CommandEnd> {
  const { argv, rights } = startOf(command);
  const [program = '', ...args] = argv;
  try {
    const child = spawn(program, args, {
      stdio: [command.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      env: { ...(command.isBare ? {} : variables), ...command.environment },
      ...(command.directory === undefined ? {} : { cwd: command.directory }),
      detached: true,
      ...rights,
    });
    // One that reads none of it closes the pipe, which says nothing about its success.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(command.input);
    return commandEndOf(child, command);
  } catch (error) {
    // Of most errors Node.js tells by an event, of some (ENOTDIR, E2BIG) it throws.
    const how = (error as Error).message;
    return Promise.resolve({
      succeeded: false,
      code: null,
      how,
      output: '',
      errors: '',
      isThere: () => false,
    });
  }
}

function startOf({ argv, user }: Command): {
  readonly argv: readonly string[];
  readonly rights: { readonly uid?: number; readonly gid?: number };
} {
  if (user === undefined) return { argv, rights: {} };
  const { uid, gid, groups = [] } = user;
  const isOther = uid !== process.getuid?.();
  if (groups.length === 0 || !isOther) return { argv, rights: { uid, gid } };
  return { argv: [...NODE, `${uid}`, `${gid}`, groups.join(','), ...argv], rights: {} };
}

function commandEndOf(
  child: ChildProcess,
  { timeoutMs, keep, apart, lengthMax = Infinity }: Command,
): Promise<CommandEnd> {
  let output = '';
  let errors = '';
  let length = 0;
  let endTooLong = (): void => undefined;
  const note = (text: string): void => {
    length += text.length;
    if (length > lengthMax) endTooLong();
  };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output = kept(output, text, keep);
    note(text);
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (apart) errors = kept(errors, text, keep);
    else output = kept(output, text, keep);
    note(text);
  });
  return new Promise((resolve) => {
    const end = (code: number | null, how: string, isThere = () => false): void => {
      clearTimeout(timer);
      endTooLong = () => undefined;
      // Whatever it started may hold the pipes open; nobody reads them any more.
      child.stdin?.destroy();
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve({ succeeded: code === 0, code, how, output, errors, isThere });
    };
    const endFor = (words: string): void => {
      const why = killGroup(child);
      const left = why === null ? '' : `; it cannot be killed (${why})`;
      end(null, `${words}${left}`, remains(child));
    };
    const timer = setTimeout(
      () => endFor(`it took longer than ${formatDuration(timeoutMs)}`),
      timeoutMs,
    );
    endTooLong = () => endFor(`it printed more than ${lengthMax} characters`);
    child.once('error', (error) => end(null, error.message));
    child.once('exit', (code, signal) => {
      const answer = (): void => end(code, signal === null ? `exit code ${code}` : signal);
      child.once('close', answer);
      // Something that it has left behind may keep the pipes open for ever.
      setTimeout(answer, PIPES_MS);
    });
  });
}

function kept(before: string, text: string, { part, length }: Command['keep']): string {
  // What is full is not copied again for each piece that comes.
  if (part === 'first' && before.length >= length) return before;
  const output = `${before}${text}`;
  return part === 'first' ? output.slice(0, length) : output.slice(-length);
}

/** Whether any of the session remains that was there at its end: its number may be reused. */
function remains(child: ChildProcess): () => boolean {
  const { pid = 0 } = child;
  const unmarked = { uid: 0, startTicks: 0, mark: undefined, isOthers: () => false };
  // As of its end: until then it may start more in its session.
  const isChildThere = (): boolean => child.exitCode === null && child.signalCode === null;
  let endedTicks = isChildThere() ? 0 : ticksNow();
  child.once('exit', () => {
    endedTicks = ticksNow();
  });
  return () => isChildThere() || countMembers({ ...unmarked, pid, isLive: false, endedTicks }) > 0;
}

/** Why not; null: it is gone. One run by sudo is not ours to kill (EPERM): no reason to crash. */
function killGroup({ pid }: ChildProcess): string | null {
  if (pid === undefined) return null;
  try {
    process.kill(-pid, 'SIGKILL');
    return null;
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    return code === 'ESRCH' ? null : code;
  }
}
