// This machine as drivers show it.

import { isContainer, namesIn, readOrNull } from '../../owner/os/detector.ts';
import { ProcessTable } from '../../owner/os/processes.ts';
import type { MachineView, ProcessOwner } from '../ports/machine-view.ts';
import { accountNames } from './account-names.ts';
import { KernelLog } from './kernel-log.ts';
import { SystemTool } from './tool.ts';

export function systemView(): MachineView {
  const table = new ProcessTable();
  const log = new KernelLog();
  return {
    tool: (program) => new SystemTool(program),
    read: readOrNull,
    namesIn,
    kernelLog: () => log.read(),
    owners: (pids) => ownersOf(pids, table),
    isContained: isContainer(),
  };
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
    found.set(pid, { user: names.get(uid) ?? `uid ${uid}`, isOurs });
  }
  return found;
}
