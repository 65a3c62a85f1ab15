// `weft setup remove`: takes services of Weft off this machine, with all that they keep.

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { defineVerb } from '../../../../kernel/cli/verb.ts';
import { machineFile, textOf, WRITTEN } from '../../../../kernel/connect/client-file.ts';
import { usage } from '../../../../kernel/model/failure.ts';
import { type LeftSeen, planRemoval, type Removal } from '../../core/setup/plan.ts';
import { stateIn } from '../../core/setup/user-units.ts';
import { Asking, type AskingOptions } from './asking.ts';
import { Machine, run, untilSeen } from './machine.ts';
import { checkedFolders, refuseLiving, removeFolder } from './own-folders.ts';
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

/**
 * By what the units of this user say: whatever else is where they usually are is somebody else's.
 */
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
