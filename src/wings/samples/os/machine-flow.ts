// What goes to and from the disks and networks of the machine, by /proc: what is counted twice, as
// by partitions and bridges, is left out.

import { existsSync, readFileSync } from 'node:fs';
import type { MachineFlow } from '../ports/machine-use.ts';

/** The kernel counts in these, whatever a disk's own are. */
const SECTOR_BYTES = 512;
/** Whole disks: not their parts, nor what is made of several. */
const DISK = /^(?:(?:sd|vd|xvd|hd)[a-z]+|nvme\d+n\d+|mmcblk\d+)$/;
/** Interfaces of containers and virtual machines here, whose bytes go nowhere or are counted. */
const VIRTUAL = /^(?:lo|veth|docker|br-|virbr|cni|flannel|cali|tap|dummy|ifb)/;

export function machineFlow(): MachineFlow | null {
  const disks = diskBytes(readOrEmpty('/proc/diskstats'));
  const nets = netBytes(readOrEmpty('/proc/net/dev'), (name) => {
    return existsSync(`/sys/class/net/${name}/device`);
  });
  if (disks === null && nets === null) return null;
  const [readBytes, writtenBytes] = disks ?? [0, 0];
  const [receivedBytes, sentBytes] = nets ?? [0, 0];
  return { readBytes, writtenBytes, receivedBytes, sentBytes };
}

type Pair = readonly [first: number, second: number];

/** Read and written since the machine was started; null: it names no disk. */
export function diskBytes(text: string): Pair | null {
  const rows = text.split('\n').flatMap((line) => {
    const [, , name = '', , , read, , , , written] = line.trim().split(/\s+/);
    return DISK.test(name) ? [[Number(read), Number(written)] as const] : [];
  });
  const [read, written] = sumOf(rows) ?? [];
  return read === undefined || written === undefined
    ? null
    : [read * SECTOR_BYTES, written * SECTOR_BYTES];
}

/**
 * Received and sent since the machine was started. Where there are interfaces of hardware they are
 * all; in a container there is none.
 */
export function netBytes(text: string, isHardware: (name: string) => boolean): Pair | null {
  const rows = text.split('\n').flatMap((line) => {
    const [, name, numbers] = /^\s*([^\s:]+):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined || numbers === undefined || VIRTUAL.test(name)) return [];
    const cells = numbers.split(/\s+/);
    return [{ name, pair: [Number(cells[0]), Number(cells[8])] as const }];
  });
  const real = rows.filter(({ name }) => isHardware(name));
  return sumOf((real.length > 0 ? real : rows).map(({ pair }) => pair));
}

function sumOf(pairs: readonly Pair[]): Pair | null {
  const whole = pairs.filter((pair) => pair.every((one) => Number.isSafeInteger(one)));
  if (whole.length === 0) return null;
  return whole.reduce(([a, b], [c, d]) => [a + c, b + d]);
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return ''; // Another system, or a container that hides it.
  }
}
