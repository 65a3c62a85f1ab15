// What is to be done to a machine, by what it says of itself: nothing twice, and nothing where it
// cannot work.

import { err, ok, type Result } from '../../../kernel/base/result.ts';
import { formatSize } from '../../../kernel/base/size.ts';
import type { Probe } from './probe.ts';

/** A package of its own: Weft with its dependencies, or the Node.js that runs it. */
export type Part = 'weft' | 'nodejs';

export interface Wanted {
  readonly release: string;
  /** Fingerprint of the head that it is to join. */
  readonly fingerprint: string;
  /** Processor of the machine that sends the programs, as `uname -m` says. */
  readonly machine: string;
  /** SHA-256 of the Node.js that is sent, hexadecimal. */
  readonly nodejs: string;
  /** Bytes of each part, unpacked. */
  readonly bytes: Readonly<Record<Part, number>>;
  /** All that runs there runs as the user who logs in. */
  readonly withoutRoot: boolean;
  /** The machine is a node already, and is only brought to this release. */
  readonly isUpgrade: boolean;
}

export interface Plan {
  /** Put before each command there. */
  readonly as: '' | 'sudo -n ';
  readonly service: 'systemd' | 'background';
  /** Parts that the machine lacks. */
  readonly sends: readonly Part[];
  readonly joins: boolean;
  /** The agent is to be started, or started again with what was sent. */
  readonly starts: boolean;
}

/** What is wrong, and the way out. */
export interface Problem {
  readonly what: string;
  readonly remedy: string;
}

/** Room for a job's first files beside the programs. */
const SPARE_BYTES = 256 * 1_048_576;

export function planFor(probe: Probe, wanted: Wanted): Result<Plan, Problem> {
  const problem = problemOf(probe, wanted);
  if (problem !== null) return err(problem);
  const sends = partsFor(probe, wanted);
  const isRoot = probe.rights !== 'none';
  return ok({
    as: probe.rights === 'sudo' ? 'sudo -n ' : '',
    service: isRoot && probe.hasSystemd ? 'systemd' : 'background',
    sends,
    joins: probe.member === null,
    // An agent that an earlier run did not start anew goes on with programs that are gone.
    starts: sends.length > 0 || !probe.isRunning || probe.started !== wanted.release,
  });
}

/** A release seldom comes with another Node.js, which is most of what there is to send. */
function partsFor(probe: Probe, wanted: Wanted): Part[] {
  if (probe.release === wanted.release) return [];
  return probe.nodejs === wanted.nodejs ? ['weft'] : ['weft', 'nodejs'];
}

/** Two agents would write over each other; null: the folder is this machine's, or nobody's. */
export function elsewhereOf({ rights, member, owner, host }: Probe): Problem | null {
  if (rights !== 'none' || member === null || owner === null || owner === host) return null;
  const what = `its home is also that of ${owner}, which has node ${member.name} there`;
  const remedy =
    'Machines with one home are nodes by root, or one of them. If it was only renamed: remove ~/.local/state/weft-node/machine.';
  return { what, remedy };
}

function problemOf(probe: Probe, wanted: Wanted): Problem | null {
  const { system, machine, libc, rights, freeBytes, member } = probe;
  if (system !== 'Linux') return { what: `it runs ${system}`, remedy: 'Nodes run Linux.' };
  if (machine !== wanted.machine) {
    const what = `it is a ${machine}, and what this machine would send is for ${wanted.machine}`;
    return { what, remedy: `Run this from a machine that is a ${machine}, or install by hand.` };
  }
  if (libc !== 'glibc') {
    const what = 'its C library is not glibc, for which the Node that is sent is built';
    return { what, remedy: 'Install Node 24 and Weft by hand there (docs/install.md).' };
  }
  if (rights === 'none' && !wanted.withoutRoot) {
    const what = 'jobs of all users need root there, and this login is not root and has no sudo';
    const remedy =
      'Log in as root, allow sudo without a password, or give --without-root for a node of your own jobs.';
    return { what, remedy };
  }
  const elsewhere = elsewhereOf(probe);
  if (elsewhere !== null) return elsewhere;
  if (member !== null && member.fingerprint !== wanted.fingerprint) {
    const what = `it is node ${member.name} of another cluster`;
    return {
      what,
      remedy: 'Take it out there first: `weft node uninstall`, with the head of that cluster.',
    };
  }
  if (wanted.isUpgrade && member === null) {
    return { what: 'it is no node yet', remedy: 'Make it one: weft node add.' };
  }
  const parts = partsFor(probe, wanted);
  const needed = parts.reduce((sum, part) => sum + wanted.bytes[part], SPARE_BYTES);
  if (parts.length === 0 || freeBytes >= needed) return null;
  const what = `it has ${formatSize(freeBytes)} free where programs go, and ${formatSize(needed)} are needed`;
  return { what, remedy: 'Make room there.' };
}
