// What the kernel says of a card of AMD or Intel in `/sys/class/drm/cardN/device`.

import type { SeenCard } from '../../model/answer.ts';
import { numberOf, plainBusId } from '../cells.ts';

const AMD = '0x1002';
const INTEL = '0x8086';
/** Graphics inside a processor have less of their own. */
const MEMORY_MIN = 4 * 2 ** 30;

/** `file`: text of a file there, empty without it. Null: it is none that computes. */
export function cardOfKernel(file: (path: string) => string, index: number): SeenCard | null {
  const memoryBytes = numberOf(file('mem_info_vram_total'));
  if (file('vendor').trim() !== AMD || (memoryBytes ?? 0) < MEMORY_MIN) return null;
  const busId = plainBusId(/^PCI_SLOT_NAME=(.*)$/m.exec(file('uevent'))?.[1] ?? '');
  const id = file('unique_id').trim();
  const isNamed = /^[0-9a-f]+$/i.test(id) && !/^0+$/.test(id);
  return {
    vendor: 'amd',
    uuid: isNamed ? `GPU-${id}` : `AMD-${busId}`,
    busId,
    index,
    name: 'AMD gpu',
    type: 'gpu',
    memoryBytes,
    memoryUsedBytes: numberOf(file('mem_info_vram_used')),
    busyPercent: numberOf(file('gpu_busy_percent')),
    ills: [],
    ordinal: String(index),
  };
}

/**
 * Memory of its own is told by the driver xe for each tile, and by i915 beside the device
 * (`beside`). Null: it is none that computes.
 */
export function intelCardOfKernel(
  file: (path: string) => string,
  index: number,
  beside: (path: string) => string,
): SeenCard | null {
  if (file('vendor').trim() !== INTEL) return null;
  const tiles = ['tile0', 'tile1'].map((tile) =>
    numberOf(file(`${tile}/physical_vram_size_bytes`)),
  );
  const ofTiles = tiles.reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0);
  const memoryBytes = ofTiles > 0 ? ofTiles : (numberOf(beside('lmem_total_bytes')) ?? 0);
  if (memoryBytes < MEMORY_MIN) return null;
  const busId = plainBusId(/^PCI_SLOT_NAME=(.*)$/m.exec(file('uevent'))?.[1] ?? '');
  return {
    vendor: 'intel',
    uuid: `INTEL-${busId || index}`,
    busId,
    index,
    name: 'Intel gpu',
    type: 'gpu',
    memoryBytes,
    memoryUsedBytes: null,
    busyPercent: null,
    ills: [],
    ordinal: String(index),
  };
}
