// This machine as drivers show it.

import { statSync } from 'node:fs';
import { isContainer, namesIn, readOrNull } from '../../owner/os/detector.ts';
import { ProcessTable } from '../../owner/os/processes.ts';
import type { Device, MachineView, ProcessOwner } from '../ports/machine-view.ts';
import { accountNames } from './account-names.ts';
import { KernelLog } from './kernel-log.ts';
import { SystemTool } from './tool.ts';

const MARK = 'WEFT_LAUNCH=';

export function systemView(): MachineView {
  const table = new ProcessTable();
  const log = new KernelLog();
  return {
    tool: (program) => new SystemTool(program),
    device: deviceOf,
    read: readOrNull,
    namesIn,
    kernelLog: () => log.read(),
    owners: (pids) => ownersOf(pids, table),
    isContained: isContainer(),
  };
}

function deviceOf(path: string): Device | null {
  try {
    const found = statSync(path);
    if (!found.isCharacterDevice() && !found.isBlockDevice()) return null;
    return `${found.isBlockDevice() ? 'b' : 'c'}${majorOf(found.rdev)}:${minorOf(found.rdev)}`;
  } catch {
    return null; // It is not there, or this program may not look.
  }
}

/** Major and minor number are put together as by makedev(3) of glibc. */
function majorOf(device: number): number {
  return Number((BigInt(device) >> 8n) & 0xfffn);
}

function minorOf(device: number): number {
  return Number((BigInt(device) & 0xffn) | ((BigInt(device) >> 12n) & 0xffff_ff00n));
}

/** All of /proc is read, and only where somebody is on a card. */
function ownersOf(pids: readonly number[], table: ProcessTable): Map<number, ProcessOwner> {
  const found = new Map<number, ProcessOwner>();
  if (pids.length === 0) return found;
  const all = table.read();
  const names = accountNames();
  for (const pid of pids) {
    const isOurs = all.get(pid)?.isOurs;
    const uid = /^Uid:\s+(\d+)/m.exec(readOrNull(`/proc/${pid}/status`) ?? '')?.[1];
    if (isOurs === undefined || uid === undefined) continue;
    const user = names.get(uid) ?? `uid ${uid}`;
    const mark = isOurs ? markOf(pid) : undefined;
    found.set(pid, mark === undefined ? { user, isOurs } : { user, isOurs, mark });
  }
  return found;
}

function markOf(pid: number): string | undefined {
  const environment = readOrNull(`/proc/${pid}/environ`)?.split('\0') ?? [];
  return environment.find((entry) => entry.startsWith(MARK))?.slice(MARK.length);
}
