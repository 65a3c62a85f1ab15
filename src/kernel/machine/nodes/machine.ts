// The machine that a node is: its marks, what is known of its boots, and copies of its identity.

import { formatInstant } from '../../base/instant.ts';
import type { MachineMarks, NodeHello } from '../../model/node.ts';
import { shortBoot } from '../../model/node.ts';
import type { Clone, Node } from './facts.ts';

/** Boots of a node that are remembered as over: more than a machine has while a copy lives. */
const FORMER_BOOTS_MAX = 16;

type Marks = MachineMarks | null | undefined;

/** The same boot of the same machine, and the same folder there. */
export function isOneMachine(
  clone: Pick<Clone, 'bootId' | 'machine'>,
  { bootId, machine }: Pick<NodeHello, 'bootId' | 'machine'>,
): boolean {
  return clone.bootId === bootId && !isOtherFolder(clone.machine, machine);
}

export function isOtherFolder(one: Marks, other: Marks): boolean {
  return differ(one?.folder, other?.folder);
}

export function isOtherMachine(one: Marks, other: Marks): boolean {
  return differ(one?.id, other?.id) || differ(one?.board, other?.board);
}

/** Said by at least one mark that both have. */
export function isSameMachine(one: Marks, other: Marks): boolean {
  if (isOtherMachine(one, other)) return false;
  const hasBoth = (mark: 'id' | 'board') =>
    one?.[mark] !== undefined && one[mark] === other?.[mark];
  return hasBoth('id') || hasBoth('board');
}

function differ(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other;
}

/** Before the node has its new boot id. */
export function noteMachine(node: Node, { bootId, machine }: NodeHello): void {
  if (node.bootId !== '' && node.bootId !== bootId) {
    const others = node.formerBoots.filter((one) => one !== bootId);
    node.formerBoots = [...others, node.bootId].slice(-FORMER_BOOTS_MAX);
  }
  node.machine = machine ?? null;
}

/** The next machine that says hello is the node's. */
export function forgetMachine(node: Node): void {
  node.bootId = '';
  forgetCopies(node);
}

/** Forgets copies of a machine: their secret ends; the new one's owner may be another machine. */
export function forgetCopies(node: Node): void {
  node.machine = null;
  node.clones = [];
  node.formerBoots = [];
}

/** `two machines use its identity: a (boot 1a2b) and b (boot 3c4d)`; null: one does. */
export function cloneWords({ clones, facts, bootId }: Node): string | null {
  if (clones.length === 0) return null;
  const own = { hostname: facts?.hostname ?? 'unknown', bootId };
  const all = [own, ...clones];
  const many = all.length === 2 ? 'two' : String(all.length);
  const isAlike = clones.every(({ hostname }) => hostname === own.hostname);
  if (!isAlike) {
    const names = all.map((one) => `${one.hostname} (boot ${shortBoot(one.bootId)})`);
    return `${many} machines use its identity: ${listed(names)}`;
  }
  // A clone mostly has the host name of its original, too: that tells nobody which is which.
  if (clones.every((one) => one.bootId === bootId)) {
    return `${many} folders of ${own.hostname} use its identity`;
  }
  const later = clones.map((one) => `${shortBoot(one.bootId)} since ${formatInstant(one.at)}`);
  const boots = listed([shortBoot(bootId), ...later]);
  return `${many} machines use its identity, all called ${own.hostname}, with the boot ids ${boots} (see ${BOOT_ID} on each)`;
}

const BOOT_ID = '/proc/sys/kernel/random/boot_id';

function listed(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
