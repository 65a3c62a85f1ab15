// Nodes of sites in maintenance: what a gateway is told to have stopped, derived from the state alone,
// and what follows from what it says of it.

import type { NodeName } from '../../model/ids.ts';
import { isAlive, isUnderWay, type Maintenance, worksOn } from '../../model/maintenance.ts';
import { memberName, type SiteStop, type StopWish } from '../../model/site.ts';
import { skipNode } from '../maintenance/program.ts';
import type { State } from '../state.ts';
import type { Step } from '../step.ts';
import { memberOf } from './members.ts';

export interface SiteStopsHeard {
  /** The gateway. */
  readonly node: NodeName;
  readonly session: number;
  /** All of them. */
  readonly stops: readonly SiteStop[];
}

/** All that the gateway's site is to keep stopped at this moment. */
export function stopsWanted(state: State, gateway: NodeName): StopWish[] {
  const wanted: StopWish[] = [];
  for (const one of state.maintenances.values()) {
    if (!isUnderWay(one)) continue;
    const until = state.reservations.get(one.id)?.slots[0]?.until ?? one.until;
    for (const name of one.nodes) {
      const node = state.nodes.get(name);
      const member = node === undefined ? null : memberOf(state, node);
      if (member?.gateway.name !== gateway || !mustBeStopped(one, name)) continue;
      wanted.push({ node: member.name, maintenance: one.id, until });
    }
  }
  return wanted;
}

/** After the end of the time only for as long as a program is being ended there. */
function mustBeStopped(one: Maintenance, node: NodeName): boolean {
  if (!worksOn(one, node)) return false;
  if (one.works[node]?.kind !== 'waiting') return true;
  return one.phase !== 'restoring' && one.takenBack?.[node] === undefined;
}

/** Heard again, it changes nothing. */
export function decideSiteStops(step: Step, heard: SiteStopsHeard): void {
  const gateway = step.state.nodes.get(heard.node);
  if (gateway === undefined || gateway.session !== heard.session) return;
  const stops = new Map(
    heard.stops.map((stop) => [`${stop.maintenance} ${memberName(stop.node, gateway.name)}`, stop]),
  );
  for (const one of [...step.state.maintenances.values()]) {
    if (!isAlive(one)) continue;
    for (const name of one.nodes) {
      const node = step.state.nodes.get(name);
      const member = node === undefined ? null : memberOf(step.state, node);
      if (member?.gateway !== gateway) continue;
      noteStop(step, { id: one.id, node: name }, stops.get(`${one.id} ${name}`));
    }
  }
}

function noteStop(
  step: Step,
  { id, node }: { readonly id: string; readonly node: NodeName },
  stop: SiteStop | undefined,
): void {
  const one = step.state.maintenances.get(id);
  if (one === undefined) return;
  const known = one.stops?.[node];
  if (stop?.state === 'refused') {
    if (worksOn(one, node))
      skipNode(step, id, node, `its site does not stop it: ${stop.why ?? ''}`);
  } else if (stop !== undefined) {
    if (known !== 'stopped') step.emit({ kind: 'maintenance_stop', id, node, stop: 'stopped' });
  } else if (known === 'stopped' && !mustBeStopped(one, node)) {
    step.emit({ kind: 'maintenance_stop', id, node, stop: 'returned' });
  }
}
