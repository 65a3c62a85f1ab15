// Types of gpus that the configuration names and that no node has: as a rule they are misspelt, and
// the weight or the cap holds for nothing.

import { typesHere } from '../../machine/caps.ts';
import type { State } from '../../machine/state.ts';
import { type Caps, mayGet, NO_CAPS, typeOfKind } from '../../model/caps.ts';
import { isOfType } from '../../model/cards-for.ts';
import type { Scheduling } from '../../model/scheduling.ts';

/** None where there is no node, or one does not tell which gpus it has. */
export function unmetTypes(
  state: Pick<State, 'nodes'>,
  { caps = NO_CAPS, memberCaps = {}, groupCaps = [], qualities, fairShare }: Scheduling,
): string[] {
  const types = typesHere(state);
  if (types === null || state.nodes.size === 0) return [];
  const has = types.length === 0 ? 'nodes have no gpus' : `nodes have ${types.join(', ')}`;
  const tell = (key: string, unmet: readonly string[]): string[] => {
    const names = [...new Set(unmet)].join(' and ');
    return unmet.length === 0 ? [] : [`${key} names ${names}, which no node has; ${has}`];
  };
  const unmetIn = (all: Caps): string[] => {
    const capped = Object.keys(all).flatMap((kind) => typeOfKind(kind) ?? []);
    return capped.filter((name) => !types.some((type) => mayGet([type], name)));
  };
  const weighed = Object.keys(fairShare.weights.gpus ?? {}).filter((name) => {
    return !types.some((type) => isOfType(type, name));
  });
  const ofAll = unmetIn(caps);
  const ofGroups = Object.values(memberCaps).flatMap(unmetIn);
  return [
    ...tell('fair_share.gpu_weights', weighed),
    ...Object.values(qualities).flatMap(({ name, gpusPerUser = NO_CAPS }) => {
      return tell(`running_gpu_types of the QoS ${name}`, unmetIn(gpusPerUser));
    }),
    ...groupCaps.flatMap((one) => {
      return tell(`together.gpu_types of the group ${one.group}`, unmetIn(one.caps));
    }),
    ...tell('caps.gpu_types', ofAll),
    ...tell(
      'caps.gpu_types of a group',
      ofGroups.filter((type) => !ofAll.includes(type)),
    ),
  ];
}
