// Nodes of sites in maintenance: what a gateway is told to have stopped, derived from the state
// alone, and what follows from what it says of it. It is told of a stop only once that is written
// down, as from then on the node may be stopped until the gateway says otherwise.

import { maintenanceOf } from '../../../kernel/machine/maintenance/apply.ts';
import { skipNode } from '../../../kernel/machine/maintenance/program.ts';
import { memberOf } from '../../../kernel/machine/nodes/members.ts';
import type { State } from '../../../kernel/machine/state.ts';
import type { Step } from '../../../kernel/machine/step.ts';
import type { NodeName } from '../../../kernel/model/ids.ts';
import {
  isAlive,
  isUnderWay,
  type Maintenance,
  mayBeStopped,
  type NodeStop,
  worksOn,
} from '../../../kernel/model/maintenance.ts';
import { memberName, type SiteStop, type StopRequest } from '../../../kernel/model/site.ts';

export interface SiteStopsHeard {
  /** The gateway. */
  readonly node: NodeName;
  readonly session: number;
  /** All of them. */
  readonly stops: readonly SiteStop[];
  /** The gateway knew then everything that it was told to stop, in this session. */
  readonly isUpToDate: boolean;
}

/** All that the gateway's site is to keep stopped at this moment, as far as it is written down. */
export function stopsWanted(state: State, gateway: NodeName): StopRequest[] {
  const wanted: StopRequest[] = [];
  for (const one of state.maintenances.values()) {
    if (!isUnderWay(one)) continue;
    const until = state.reservations.get(one.id)?.slots[0]?.until ?? one.until;
    for (const name of one.nodes) {
      const node = state.nodes.get(name);
      const member = node === undefined ? null : memberOf(state, node);
      if (member?.gateway.name !== gateway || !mustBeStopped(one, name)) continue;
      if (!mayBeStopped(one, name)) continue;
      wanted.push({ node: member.name, maintenance: one.id, until });
    }
  }
  return wanted;
}

/** Writes down what its gateways are about to be told; one that is away is told on its return. */
export function askStops(step: Step, id: string): void {
  for (const name of maintenanceOf(step.state, id).nodes) {
    const node = step.state.nodes.get(name);
    const member = node === undefined ? null : memberOf(step.state, node);
    if (member?.gateway.connected === true) askStop(step, id, name);
  }
}

function askStop(step: Step, id: string, node: NodeName): void {
  const one = maintenanceOf(step.state, id);
  if (!mustBeStopped(one, node) || mayBeStopped(one, node)) return;
  step.emit({ kind: 'maintenance_stop', id, node, stop: 'asked' });
}

/** After the end of the time only for as long as a program is being ended there. */
function mustBeStopped(one: Maintenance, node: NodeName): boolean {
  if (!isUnderWay(one) || !worksOn(one, node)) return false;
  if (one.works[node]?.kind !== 'waiting') return true;
  return one.phase !== 'restoring' && one.takenBack?.[node] === undefined;
}

/** Heard again, it changes nothing. */
export function decideSiteStops(step: Step, heard: SiteStopsHeard): void {
  const gateway = step.state.nodes.get(heard.node);
  if (gateway === undefined || gateway.session !== heard.session) return;
  const keyOf = ({ node, maintenance }: SiteStop): string =>
    `${maintenance} ${memberName(node, gateway.name)}`;
  // What was refused may have to be given back first.
  const isRefused = ({ state }: SiteStop): boolean => state === 'refused';
  const [refused, kept] = [
    new Map(heard.stops.filter(isRefused).map((stop) => [keyOf(stop), stop])),
    new Set(heard.stops.filter((stop) => !isRefused(stop)).map(keyOf)),
  ];
  for (const one of [...step.state.maintenances.values()]) {
    if (!isAlive(one)) continue;
    for (const name of one.nodes) {
      const node = step.state.nodes.get(name);
      const member = node === undefined ? null : memberOf(step.state, node);
      if (member?.gateway !== gateway) continue;
      const key = `${one.id} ${name}`;
      const refusal = refused.get(key);
      if (refusal !== undefined) noteRefusal(step, one.id, name, refusal);
      const isSure = heard.isUpToDate || refusal !== undefined;
      noteStop(step, { id: one.id, node: name, isKept: kept.has(key), isSure });
    }
  }
}

function noteRefusal(step: Step, id: string, node: NodeName, { why }: SiteStop): void {
  if (!worksOn(maintenanceOf(step.state, id), node)) return;
  skipNode(step, id, node, `its site does not stop it: ${why ?? ''}`);
}

interface StopHeard {
  readonly id: string;
  readonly node: NodeName;
  /** The node is stopped, or being given back. */
  readonly isKept: boolean;
  /** Not to be stopped, it will not be either. */
  readonly isSure: boolean;
}

function noteStop(step: Step, { id, node, isKept, isSure }: StopHeard): void {
  const one = maintenanceOf(step.state, id);
  const known = one.stops?.[node];
  const note = (stop: NodeStop) => step.emit({ kind: 'maintenance_stop', id, node, stop });
  if (isKept) {
    if (known !== 'stopped') note('stopped');
  } else if (mustBeStopped(one, node)) askStop(step, id, node);
  else if (known === 'stopped') note('returned');
  else if (known === 'asked' && isSure) note('never');
}
