// Machines as `condor_status -json` lists them, a record for each slot. One that is down, or whose
// startd is off, is in no listing.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type { SiteNode, SiteNodeState, SiteQueue } from '../../../../kernel/model/site.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { unreadable, wholeOf } from '../read.ts';
import { type Ad, adsIn, wordOf } from './ads.ts';

const ATTRIBUTES = [
  ...['Machine', 'Name', 'State', 'Activity', 'Cpus', 'Memory', 'TotalSlotCpus', 'Arch', 'OpSys'],
  ...['TotalSlotMemory', 'PartitionableSlot', 'DynamicSlot', 'Draining', 'DrainReason'],
].join(',');

export const NODES_COMMAND = {
  argv: ['condor_status', '-startd', '-json', '-attributes', ATTRIBUTES],
};
export const QUEUES_COMMAND = {
  argv: ['condor_status', '-schedd', '-json', '-attributes', 'Name'],
};

const MIB = 1_048_576;

export function readNodes(output: SiteOutput): Result<readonly SiteNode[], SiteProblem> {
  const ads = adsIn('condor_status', output);
  if (!ads.ok) return ads;
  if (ads.value.length === 0) return unreadable('condor_status', 'it lists no machine');
  const isWhole = (ad: Ad) => wordOf(ad.State) !== null && wholeOf(ad.Cpus) !== null;
  const nameOf = (ad: Ad) => wordOf(ad.Machine) ?? '';
  if (!ads.value.every((ad) => isWhole(ad) && /^\S+$/.test(nameOf(ad)))) {
    return unreadable('condor_status', 'a slot has no Machine, State or Cpus');
  }
  return ok([...Map.groupBy(ads.value, nameOf)].map(([name, slots]) => nodeOf(name, slots)));
}

interface Share {
  readonly cpus: number;
  readonly cpusUsed: number;
  readonly memory: number;
  readonly memoryUsed: number;
}

/** A partitionable slot says what is left of it; what is taken from it are dynamic slots. */
function shareOf(slot: Ad): Share {
  const [cpus, memory] = [wholeOf(slot.Cpus) ?? 0, wholeOf(slot.Memory) ?? 0];
  if (slot.PartitionableSlot === true) {
    const [all, whole] = [wholeOf(slot.TotalSlotCpus), wholeOf(slot.TotalSlotMemory)];
    return { cpus: all ?? cpus, cpusUsed: 0, memory: whole ?? memory, memoryUsed: 0 };
  }
  if (slot.DynamicSlot === true) return { cpus: 0, cpusUsed: cpus, memory: 0, memoryUsed: memory };
  const isUsed = ['Claimed', 'Preempting', 'Matched'].includes(wordOf(slot.State) ?? '');
  return { cpus, cpusUsed: isUsed ? cpus : 0, memory, memoryUsed: isUsed ? memory : 0 };
}

function nodeOf(name: string, slots: readonly Ad[]): SiteNode {
  const shares = slots.map(shareOf);
  const sum = (of: (share: Share) => number) => shares.reduce((all, one) => all + of(one), 0);
  const words = [...new Set(slots.map((slot) => wordOf(slot.State) ?? ''))];
  const isDraining = slots.some((slot) => slot.Draining === true);
  const [cpuCount, cpusUsed] = [sum(({ cpus }) => cpus), sum((share) => share.cpusUsed)];
  const memory = wholeOf(sum((share) => share.memory)) ?? 0;
  const features = [...new Set(slots.flatMap((slot) => [wordOf(slot.Arch), wordOf(slot.OpSys)]))];
  return {
    name,
    state: nodeStateOf(words, { isDraining, cpusUsed, cpuCount }),
    word: [...words, ...(isDraining ? ['draining'] : [])].join('+'),
    reason: slots.map((slot) => wordOf(slot.DrainReason)).find((one) => one !== null) ?? null,
    cpuCount,
    cpusUsed,
    memoryBytes: memory * MIB,
    memoryFreeBytes: Math.max(0, memory - sum((share) => share.memoryUsed)) * MIB,
    features: features.filter((one) => one !== null),
    queues: [],
  };
}

const IN_USE = ['Unclaimed', 'Matched', 'Claimed', 'Preempting', 'Backfill'];

function nodeStateOf(
  words: readonly string[],
  node: { readonly isDraining: boolean; readonly cpusUsed: number; readonly cpuCount: number },
): SiteNodeState {
  const isOff = words.some((word) => word === 'Drained' || word === 'Owner' || word === 'Delete');
  if (isOff || node.isDraining) return 'stopped';
  if (!words.every((word) => IN_USE.includes(word))) return 'unknown';
  if (node.cpusUsed >= node.cpuCount) return 'busy';
  return node.cpusUsed > 0 ? 'running' : 'idle';
}

/** Queues of HTCondor: its schedds. */
export function readQueues(output: SiteOutput): Result<readonly SiteQueue[], SiteProblem> {
  const ads = adsIn('condor_status', output);
  if (!ads.ok) return ads;
  const names = ads.value.map((ad) => wordOf(ad.Name)).filter((name) => name !== null);
  if (names.length < ads.value.length) return unreadable('condor_status', 'a schedd has no Name');
  const rest = { isOpen: true, isStarted: true, walltimeMaxMs: null, nodes: [] };
  return ok(names.map((name) => ({ name, ...rest })));
}
