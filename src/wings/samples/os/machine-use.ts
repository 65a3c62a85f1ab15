// What processes use, by /proc: one pass over all of them answers for every task. It sees what this
// user may see: everything as root, else its own.

import { readdirSync, readFileSync } from 'node:fs';
import { environmentOf, statFields } from '../../../kernel/os/environment-of.ts';
import type { DiskUse, MachineLook, MachineUse, SessionUse } from '../ports/machine-use.ts';
import { machineFlow } from './machine-flow.ts';

const MARK = 'WEFT_LAUNCH=';
/** Linux tells times of processes in hundredths of a second, whatever its own tick is (time(7)). */
const MS_PER_TICK = 10;
/** Memory is told in pages, whose size is only told beside one's own memory. */
const PAGE_BYTES =
  1024 * Number(/^KernelPageSize: +(\d+) kB/m.exec(readOrEmpty('/proc/self/smaps'))?.[1] ?? 4);

export function systemUse(): MachineUse {
  const marks = new Map<string, string | null>();
  return {
    look: () => {
      const stat = readOrEmpty('/proc/stat');
      const byMark = useByMark(marks);
      return { whole: wholeUse(stat), cpuCount: cpusIn(stat), byMark, flow: machineFlow() };
    },
  };
}

/** For the nodes of one program, which look at about the same time. */
export function sharedUse(use: MachineUse, monotonic: () => number, freshMs: number): MachineUse {
  let last: { readonly at: number; readonly look: MachineLook } | null = null;
  return {
    look: () => {
      const at = monotonic();
      if (last === null || at - last.at > freshMs) last = { at, look: use.look() };
      return last.look;
    },
  };
}

interface Sum {
  cpuMs: number;
  memoryBytes: number;
}

/** `marks`: of sessions that were seen before, which never change. */
function useByMark(marks: Map<string, string | null>): Map<string, SessionUse[]> {
  const sessions = new Map<string, Sum & { startTicks: string; pids: string[] }>();
  for (const pid of pids()) {
    const fields = statFields(pid);
    if (fields === null) continue;
    const session = fields[3] ?? '';
    const sum = sessions.get(session) ?? { cpuMs: 0, memoryBytes: 0, startTicks: '', pids: [] };
    // User and system time, and that of children that have ended and were waited for.
    const ticks = [11, 12, 13, 14].reduce((all, at) => all + Number(fields[at] ?? 0), 0);
    sum.cpuMs += ticks * MS_PER_TICK;
    if (fields[0] !== 'Z') sum.memoryBytes += Number(fields[21] ?? 0) * PAGE_BYTES;
    sum.pids.push(pid);
    if (pid === session) sum.startTicks = fields[19] ?? '';
    sessions.set(session, sum);
  }
  return marked(sessions, marks, markOf, (session) => diskUse(sessions.get(session)?.pids ?? []));
}

/** `markFor`: undefined when nobody can say it at the moment. */
export function marked(
  sessions: ReadonlyMap<string, Sum & { readonly startTicks: string }>,
  marks: Map<string, string | null>,
  markFor: (session: string) => string | null | undefined = markOf,
  diskOf: (session: string) => DiskUse | null = () => null,
): Map<string, SessionUse[]> {
  const found = new Map<string, SessionUse[]>();
  const seen = new Set<string>();
  for (const [session, { startTicks, cpuMs, memoryBytes }] of sessions) {
    // Without its leader nobody can say whose it is.
    if (startTicks === '') continue;
    const key = `${session}@${startTicks}`;
    seen.add(key);
    const mark = marks.has(key) ? marks.get(key) : markFor(session);
    // In the middle of an exec: the next look says it.
    if (mark === undefined) continue;
    marks.set(key, mark);
    if (mark === null) continue;
    const all = found.get(mark) ?? [];
    const disk = diskOf(session);
    const use = { name: key, cpuMs, memoryBytes };
    all.push(disk === null ? use : { ...use, disk });
    found.set(mark, all);
  }
  for (const key of marks.keys()) if (!seen.has(key)) marks.delete(key);
  return found;
}

/**
 * Bytes of these processes, and of children that they waited for (proc_pid_io(5)). Null: none of
 * them may be looked at.
 */
function diskUse(pids: readonly string[]): DiskUse | null {
  let sum: { readBytes: number; writtenBytes: number } | null = null;
  for (const pid of pids) {
    const [, read, written] =
      /^read_bytes: (\d+)\nwrite_bytes: (\d+)$/m.exec(readOrEmpty(`/proc/${pid}/io`)) ?? [];
    if (read === undefined) continue;
    sum ??= { readBytes: 0, writtenBytes: 0 };
    sum.readBytes += Number(read);
    sum.writtenBytes += Number(written);
  }
  return sum;
}

function markOf(pid: string): string | null | undefined {
  const environment = environmentOf(pid);
  if (environment === undefined) return undefined;
  const entry = environment?.split('\0').find((one) => one.startsWith(MARK));
  return entry?.slice(MARK.length) ?? null;
}

function wholeUse(stat: string): Sum | null {
  const [user, nice, system, , , irq, softirq] =
    /^cpu +(.*)$/m.exec(stat)?.[1]?.split(' ').map(Number) ?? [];
  const memory = readOrEmpty('/proc/meminfo');
  const total = kib(memory, 'MemTotal');
  const available = kib(memory, 'MemAvailable');
  if (user === undefined || total === null || available === null) return null;
  const ticks = [user, nice, system, irq, softirq].reduce<number>(
    (all, one) => all + (one ?? 0),
    0,
  );
  return { cpuMs: ticks * MS_PER_TICK, memoryBytes: (total - available) * 1024 };
}

function cpusIn(stat: string): number | null {
  return stat.match(/^cpu\d+ /gm)?.length ?? null;
}

function kib(text: string, name: string): number | null {
  const found = new RegExp(`^${name}: +(\\d+) kB`, 'm').exec(text)?.[1];
  return found === undefined ? null : Number(found);
}

function pids(): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
