// `weft setup remove`: takes services of Weft off this machine, with all that they keep.

import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
} from 'node:fs';
import { LocalPaths, STATE_NAMES } from '../../../../kernel/cli/daemons/local-paths.ts';
import { defineVerb } from '../../../../kernel/cli/verb.ts';
import { machineFile, textOf, WRITTEN } from '../../../../kernel/connect/client-file.ts';
import { readLiveMark } from '../../../../kernel/connect/process-file.ts';
import { usage } from '../../../../kernel/model/failure.ts';
import { type LeftSeen, planRemoval, type Removal } from '../../core/setup/plan.ts';
import { stateIn } from '../../core/setup/user-units.ts';
import { Asking, type AskingOptions } from './asking.ts';
import { Machine, run, untilSeen } from './machine.ts';
import { stepEnvironment } from './root-programs.ts';

interface Options extends Pick<AskingOptions, 'yes'> {
  readonly user?: boolean;
}

const END_MS = 15_000;
const STATE = ['/var/lib/weft', '/var/cache/weft'];

export const verb = defineVerb<Options>({
  define(command) {
    command.option('--user', 'services of yours, which were set up with --user');
    command.option('-y, --yes', 'ask nothing');
  },
  async run({ context, options }) {
    if (context.options.dir !== undefined) {
      throw usage('--dir is not for this', 'What is removed is what the installed units name.');
    }
    const isUsers = options.user === true;
    const machine = new Machine(context, { whose: isUsers ? 'user' : 'machine', state: '/' });
    const client = machineFile(context.environment);
    const isOurs = !isUsers && existsSync(client) && textOf(client).startsWith(WRITTEN);
    const { whose, isRoot, hasSudo } = machine.look();
    // Before anything is looked at that only root may see.
    const may = planRemoval({ whose, isRoot, hasSudo, ...NOTHING });
    if (!may.ok) throw usage(may.error.what, may.error.remedy);
    const seen: LeftSeen = {
      whose,
      isRoot,
      hasSudo,
      units: machine.ownUnits(),
      folders: checkedFolders(
        isUsers ? foldersOf(machine, 'weft-head', 'weft-agent') : STATE,
        whose,
      ),
      files: isOurs ? [client] : [],
      hasUser: isSetUpUser(),
    };
    const plan = planRemoval(seen);
    if (!plan.ok) throw usage(plan.error.what, plan.error.remedy);
    machine.claim();
    if (plan.value.length === 0) context.print('Nothing of Weft is set up here.');
    else if (!(await new Asking(context, options, []).agree(plan.value))) return 1;
    for (const step of plan.value) await carryOut(step, machine, seen);
    // Last: they name the folders for a removal that was cut off.
    if (seen.units.length > 0) machine.removeUnits();
    if (plan.value.length > 0) {
      context.print('It is gone. A head elsewhere forgets a node with: weft node remove NAME');
    }
    return 0;
  },
});

const NOTHING = { units: [], folders: [], files: [], hasUser: false };

/** By what this user's units say: whatever else is where they usually are is another's. */
function foldersOf(machine: Machine, ...names: readonly ('weft-head' | 'weft-agent')[]): string[] {
  const units = names.map((name) => machine.unit(name));
  return [...new Set(units.flatMap((unit) => (unit === null ? [] : (stateIn(unit) ?? []))))];
}

/** One of that name who lives elsewhere is none that a set-up or a package has made. */
function isSetUpUser(): boolean {
  const found = spawnSync('getent', ['passwd', 'weft'], {
    encoding: 'utf8',
    env: stepEnvironment(),
  });
  return found.status === 0 && found.stdout.split(':')[5] === STATE[0];
}

async function carryOut({ name }: Removal, machine: Machine, seen: LeftSeen): Promise<void> {
  const { whose, folders, files } = seen;
  switch (name) {
    case 'stop':
      return machine.stopUnits();
    case 'user':
      return run('userdel', 'weft');
    case 'files':
      for (const file of files) rmSync(file, { force: true });
      return;
    default:
      refuseLiving(whose === 'user' ? folders : [`${STATE[0]}/head`, `${STATE[0]}/node`]);
      await endLaunchers(whose === 'user' ? foldersOf(machine, 'weft-agent') : folders);
      refuseLaunchers(folders);
      for (const folder of checkedFolders(folders, whose)) removeFolder(folder);
  }
}

/** Launchers outlive their agents, with what they run. */
async function endLaunchers(folders: readonly string[]): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    for (const pid of launchersOf(folders)) signalTo(pid, signal);
    const gone = async () => (launchersOf(folders).length === 0 ? true : null);
    if ((await untilSeen(gone, END_MS)) !== null) return;
  }
}

/** What `weft up` has started there may still run, without its agent. */
function refuseLaunchers(folders: readonly string[]): void {
  const [pid] = launchersOf(folders);
  if (pid === undefined) return;
  const what = `tasks still run by a launcher in ${folders.join(' or ')} (process ${pid})`;
  throw usage(`${what}; nothing there was removed`, 'End it first, with its agent: weft down.');
}

function launchersOf(folders: readonly string[]): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    const line = commandLineOf(pid);
    return folders.some((folder) => line.includes(` --socket ${folder}/`)) && isLauncher(pid);
  });
}

/** Anybody can give a process of theirs such a line. */
function isLauncher(pid: number): boolean {
  const uid = process.getuid?.();
  try {
    const program = readlinkSync(`/proc/${pid}/exe`);
    const isOurs = statSync(`/proc/${pid}`).uid === uid;
    return isOurs && /\/(weft-launcher[^/]*|node)( \(deleted\))?$/.test(program);
  } catch {
    return false; // It has ended, or is another user's.
  }
}

function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return ''; // It has ended meanwhile.
  }
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}

// Folders that a set-up has made: which they are, what keeps them from being removed, and their
// removal.

/** A head's claim on its socket stays as long as the folder. */
const OWN_NAMES = [...STATE_NAMES, 'weft.sock.lock'];
const MOUNTS = '/proc/self/mountinfo';
const BY_HAND = 'Look at it, and remove it by hand.';

const isThere = (file: string): boolean => lstatSync(file, { throwIfNoEntry: false }) !== undefined;

/** Those that are there. Throws a failure where one of them is not to be removed whole. */
export function checkedFolders(folders: readonly string[], whose: 'machine' | 'user'): string[] {
  const mounts = mountPoints(readFileSync(MOUNTS, 'utf8'));
  const found = folders.filter(isThere);
  for (const folder of found) {
    const problem = problemOf(folder, mounts) ?? (whose === 'user' ? foreignIn(folder) : null);
    if (problem !== null) throw usage(`${folder} ${problem}`, BY_HAND);
  }
  return found;
}

function problemOf(folder: string, mounts: readonly string[]): string | null {
  const stats = lstatSync(folder);
  if (stats.isSymbolicLink()) return `is a link to ${readlinkSync(folder)}`;
  if (!stats.isDirectory()) return 'is no folder';
  const mount = mounts.find((one) => one === folder || one.startsWith(`${folder}/`));
  if (mount === undefined) return null;
  return mount === folder ? 'is a file system of its own' : `has another file system in ${mount}`;
}

function foreignIn(folder: string): string | null {
  const foreign = readdirSync(folder).find((name) => !OWN_NAMES.includes(name));
  return foreign === undefined ? null : `has '${foreign}', which is nothing of Weft's`;
}

/** By the lines of proc_pid_mountinfo(5), where blanks and the like are octal. */
export function mountPoints(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const place = line.split(' ')[4];
    if (place === undefined) return [];
    return [place.replace(/\\([0-7]{3})/g, (_, code) => String.fromCharCode(parseInt(code, 8)))];
  });
}

/** A head or agent that no unit started, as `weft up` does. Throws while one lives there. */
export function refuseLiving(folders: readonly string[]): void {
  for (const folder of folders) {
    const paths = new LocalPaths(folder);
    for (const name of paths.daemons()) {
      const mark = readLiveMark(paths.mark(name));
      if (mark === null) continue;
      const what = `${name === 'head' ? 'a head' : `the agent of ${name}`} lives in ${folder} (process ${mark.pid})`;
      throw usage(`${what}; nothing there was removed`, `End it first: weft down --dir ${folder}`);
    }
  }
}

/** Other file systems stay, and so does what links lead to; the first that stays is told. */
export const removeFolder = (folder: string): void => run('find', folder, '-xdev', '-delete');
