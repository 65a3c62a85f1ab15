// What the driver of NVIDIA says of a card in `/proc/driver/nvidia/gpus/BUS/information`.

import type { SeenCard } from '../../model/answer.ts';
import { plainBusId } from '../cells.ts';
import { typeNameOf } from '../type-name.ts';

/** Returns null when it names no card, as one that has not been woken does. */
export function cardOfDriver(text: string, index: number): SeenCard | null {
  const value = (title: string): string =>
    new RegExp(`^${title}:\\s*(.*)$`, 'm').exec(text)?.[1]?.trim() ?? '';
  const uuid = value('GPU UUID');
  if (!/^GPU-[0-9a-f-]{8,}$/i.test(uuid)) return null;
  const name = value('Model');
  return {
    vendor: 'nvidia',
    uuid,
    busId: plainBusId(value('Bus Location')),
    index,
    name,
    type: typeNameOf(name),
    memoryBytes: null,
    memoryUsedBytes: null,
    busyPercent: null,
    ills: [],
  };
}
