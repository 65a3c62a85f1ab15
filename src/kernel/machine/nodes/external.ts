// What another program schedules: the nodes of partitions with `policy: external`. The scheduler of
// the head starts nothing there, whatever partition asks, so that each node has one scheduler.

import type { NodeName } from '../../model/ids.ts';
import { isMember, partitionOf, type Scheduling } from '../../model/scheduling.ts';
import type { Window } from '../../scheduler/room/lane.ts';
import { FOREVER } from '../../scheduler/room/profile.ts';
import type { State } from '../state.ts';
import { labelsOf } from './view.ts';

/** Nodes of external partitions, each with the name of the first of these. */
export type ExternalNodes = ReadonlyMap<NodeName, string>;

const NONE: ExternalNodes = new Map();

export function externalNodes(state: State, { partitions }: Scheduling): ExternalNodes {
  const external = Object.values(partitions).filter(({ policy }) => policy === 'external');
  if (external.length === 0) return NONE;
  const found = new Map<NodeName, string>();
  for (const node of state.nodes.values()) {
    const outline = { name: node.name, labels: labelsOf(node) };
    const partition = external.find((one) => isMember(one, outline));
    if (partition !== undefined) found.set(node.name, partition.name);
  }
  return found;
}

export function isExternal(scheduling: Scheduling, partition: string): boolean {
  return partitionOf(scheduling, partition)?.policy === 'external';
}

/** A window that sets them aside for ever: no other partition's tasks are planned into them. */
export function externalWindows(nodes: ExternalNodes): Window[] {
  return setAside(nodes.keys());
}

/** The same for any nodes on which nothing is to be started. */
export function setAside(nodes: Iterable<NodeName>): Window[] {
  const shares = new Map([...nodes].map((name) => [name, 'whole'] as const));
  if (shares.size === 0) return [];
  const name = 'external';
  return [{ id: name, name, purpose: 'external', recurs: false, from: 0, to: FOREVER, shares }];
}
