// Breaks one thing of a host or of the head, mends it after its time, and says from when to when it
// was out: until the head and the node were together again.

import { findLauncher } from '../../test/e2e/support/find-launcher.ts';
import type { HostedCluster, Member } from '../../test/e2e/support/hosted-cluster.ts';
import type { Outage } from './evidence.ts';

/** One that comes some time after the one before it. */
export interface Fault extends Pick<Outage, 'how' | 'parts'> {
  readonly afterMs: number;
  readonly forMs: number;
}

export type Rest = (ms: number) => Promise<unknown>;

interface Waits {
  readonly rest: Rest;
  /** Resolves when the head has the node again. */
  isBack(): Promise<void>;
}

export async function breakNode(
  cluster: HostedCluster,
  member: Member,
  fault: Fault,
  { rest, isBack }: Waits,
): Promise<Outage> {
  const from = Date.now();
  const mend = await begin(member, fault);
  await rest(fault.forMs);
  await mend(cluster);
  await isBack();
  return { host: member.name, how: fault.how, parts: fault.parts, from, until: Date.now() };
}

type Mend = (cluster: HostedCluster) => Promise<void>;

/** Resolves with how it is mended. */
async function begin(member: Member, { how, parts }: Fault): Promise<Mend> {
  const startAgent: Mend = (cluster) => cluster.startAgent(member);
  if (how === 'off') {
    await member.host.powerOff();
    return async (cluster) => {
      await member.host.powerOn();
      await startAgent(cluster);
    };
  }
  if (how === 'cut') {
    member.host.cut();
    return async () => member.host.rejoin();
  }
  const pids = pidsOf(member, parts);
  const signal = how === 'kill' ? 'SIGKILL' : 'SIGSTOP';
  for (const pid of pids) signalTo(pid, signal);
  if (how === 'stop') return async () => resume(member, pids);
  if (!parts.includes('agent')) return async () => undefined;
  await member.agent?.ended;
  return startAgent;
}

function resume({ agent }: Member, pids: readonly number[]): void {
  for (const pid of pids) {
    if (pid === agent?.pid) agent.resume();
    else signalTo(pid, 'SIGCONT');
  }
}

function pidsOf(member: Member, parts: Fault['parts']): number[] {
  const agent = parts.includes('agent') ? (member.agent?.pid ?? null) : null;
  const launcher = parts.includes('launcher') ? findLauncher(member.place) : null;
  return [agent, launcher].filter((pid) => pid !== null);
}

/** A process may be gone: a launcher without tasks ends with its agent. */
export function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

export async function breakHead(
  cluster: HostedCluster,
  { how, parts, forMs }: Fault,
  rest: Rest,
): Promise<Outage> {
  const from = Date.now();
  const { host, program } = cluster.head;
  if (how === 'kill') {
    await cluster.killHead();
    await rest(forMs);
    await cluster.startHead();
  } else if (how === 'stop') {
    process.kill(program.pid, 'SIGSTOP');
    await rest(forMs);
    program.resume();
  } else {
    host.cut();
    await rest(forMs);
    host.rejoin();
  }
  return { host: 'head', how, parts, from, until: Date.now() };
}
