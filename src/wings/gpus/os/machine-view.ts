// This machine as drivers show it.

import { statSync } from 'node:fs';
import { isContainer, namesIn, readOrNull } from '../../owner/os/detector.ts';
import type { Device, MachineView } from '../ports/machine-view.ts';
import { KernelLog } from './kernel-log.ts';
import { endLeftTools } from './left-tools.ts';
import { ownersOf } from './process-owners.ts';
import { SystemTool } from './tool.ts';

export function systemView(): MachineView {
  const log = new KernelLog();
  const left = endLeftTools();
  return {
    tool: (program) => new SystemTool(program, left),
    device: deviceOf,
    read: readOrNull,
    namesIn,
    kernelLog: () => log.read(),
    owners: ownersOf,
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
