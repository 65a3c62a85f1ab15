// `weft setup remove`: takes services of Weft off this machine, with all that they keep.

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { defineVerb } from '../../../../kernel/cli/verb.ts';
import { machineFile, textOf, WRITTEN } from '../../../../kernel/connect/client-file.ts';
import { stateDirectory } from '../../../../kernel/connect/locate.ts';
import { usage } from '../../../../kernel/model/failure.ts';
import { type LeftSeen, planRemoval, type Removal } from '../../core/setup/plan.ts';
import { Asking, type AskingOptions } from './asking.ts';
import { Machine, run, succeeds, untilSeen } from './machine.ts';

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
    const isUsers = options.user === true;
    const own = isUsers ? stateDirectory({}, context.environment) : '';
    const folders = isUsers ? [own, `${own}-node`] : STATE;
    const [state = ''] = folders;
    const machine = new Machine(context, { whose: isUsers ? 'user' : 'machine', state });
    const client = machineFile(context.environment);
    const isOurs = !isUsers && existsSync(client) && textOf(client).startsWith(WRITTEN);
    const { whose, isRoot, hasSudo } = machine.look();
    const seen: LeftSeen = {
      whose,
      isRoot,
      hasSudo,
      units: machine.ownUnits(),
      folders: folders.filter((folder) => existsSync(folder)),
      files: isOurs ? [client] : [],
      hasUser: succeeds('id', '-u', 'weft'),
    };
    const plan = planRemoval(seen);
    if (!plan.ok) throw usage(plan.error.what, plan.error.remedy);
    machine.claim();
    if (plan.value.length === 0) context.print('Nothing of Weft is set up here.');
    else if (!(await new Asking(context, options, []).agree(plan.value))) return 1;
    for (const step of plan.value) await carryOut(step, machine, seen);
    if (plan.value.length > 0) {
      context.print('It is gone. A head elsewhere forgets a node with: weft node remove NAME');
    }
    return 0;
  },
});

async function carryOut(
  { name }: Removal,
  machine: Machine,
  { folders, files }: LeftSeen,
): Promise<void> {
  switch (name) {
    case 'stop':
      machine.removeUnits();
      return endLaunchers(folders);
    case 'user':
      return run('userdel', 'weft');
    default:
      for (const one of name === 'files' ? files : folders) {
        rmSync(one, { recursive: true, force: true });
      }
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

function launchersOf(folders: readonly string[]): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    const line = commandLineOf(pid);
    return folders.some((folder) => line.includes(` --socket ${folder}/`));
  });
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
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
