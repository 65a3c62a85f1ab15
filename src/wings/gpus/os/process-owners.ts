// Whose the processes on cards are. An environment may say anything, and another Weft may run on
// the machine: a process is of this agent's tasks by descent, by its group, or by a mark of this
// agent.

import { basename, dirname, join } from 'node:path';
import { statFields } from '../../../kernel/os/environment-of.ts';
import { readOrNull } from '../../owner/os/detector.ts';
import type { ProcessOwner } from '../ports/machine-view.ts';
import { accountNames } from './account-names.ts';

const MARK = 'WEFT_LAUNCH=';
/** More than any program has between itself and its launcher. */
const FOREBEARS_MAX = 64;

/** What one process tells of whose it is; null: nothing, and its parent may. */
type Sign = Pick<ProcessOwner, 'isOurs' | 'mark'> | null;

/** `instances`: those of the nodes of this program. */
export function ownersOf(
  pids: readonly number[],
  instances: ReadonlySet<string>,
): Map<number, ProcessOwner> {
  const found = new Map<number, ProcessOwner>();
  if (pids.length === 0) return found;
  const names = accountNames();
  const signs = new Map<number, Sign>();
  for (const pid of pids) {
    const uid = uidOf(pid);
    if (uid === null) continue;
    const user = names.get(uid) ?? `uid ${uid}`;
    found.set(pid, { user, ...ownership(pid, instances, signs) });
  }
  return found;
}

/** What the process and its forebears tell; the mark of the nearest one says most. */
function ownership(
  pid: number,
  instances: ReadonlySet<string>,
  signs: Map<number, Sign>,
): Pick<ProcessOwner, 'isOurs' | 'mark'> {
  let isOurs = false;
  let mark: string | undefined;
  let one = pid;
  for (let steps = 0; one > 1 && steps < FOREBEARS_MAX; steps += 1) {
    const sign = signs.get(one) ?? signOf(one, instances);
    signs.set(one, sign);
    isOurs ||= sign?.isOurs === true;
    mark ??= sign?.mark;
    if (isOurs && mark !== undefined) break;
    one = Number(statFields(one)?.[1] ?? 0);
  }
  return mark === undefined ? { isOurs } : { isOurs, mark };
}

function signOf(pid: number, instances: ReadonlySet<string>): Sign {
  const mark = markOf(pid, instances);
  const isOurs = pid === process.pid || isInGroup(pid, instances) || isLauncher(pid, instances);
  if (mark === undefined) return isOurs ? { isOurs } : null;
  return { isOurs, mark };
}

function markOf(pid: number, instances: ReadonlySet<string>): string | undefined {
  const environment = readOrNull(`/proc/${pid}/environ`)?.split('\0') ?? [];
  const mark = environment.find((entry) => entry.startsWith(MARK))?.slice(MARK.length) ?? '';
  return instances.has(mark.slice(0, mark.indexOf(':'))) ? mark : undefined;
}

/** Groups of tasks are below one with the agent's name. */
function isInGroup(pid: number, instances: ReadonlySet<string>): boolean {
  const folders = new Set((readOrNull(`/proc/${pid}/cgroup`) ?? '').split(/[/\n]/));
  for (const instance of instances) if (folders.has(`weft-${instance}`)) return true;
  return false;
}

/** Launchers outlive the agent that started them, and take in what tasks leave behind. */
function isLauncher(pid: number, instances: ReadonlySet<string>): boolean {
  const argv = (readOrNull(`/proc/${pid}/cmdline`) ?? '').split('\0');
  const socket = argv.includes('--socket') ? (argv[argv.indexOf('--socket') + 1] ?? '') : '';
  if (basename(socket) !== 'launcher.sock' || uidOf(pid) !== String(process.getuid?.() ?? 0)) {
    return false;
  }
  return instances.has(readOrNull(join(dirname(socket), 'instance'))?.trim() ?? '');
}

function uidOf(pid: number): string | null {
  return /^Uid:\s+(\d+)/m.exec(readOrNull(`/proc/${pid}/status`) ?? '')?.[1] ?? null;
}
