// By which devices programs open a card: those of its driver, or what the operator's program says.

import type { Device } from '../../../kernel/model/device.ts';
import { DEVICES } from '../core/devices.ts';
import type { SeenCard } from '../model/answer.ts';
import type { MachineView } from '../ports/machine-view.ts';

const NVIDIA = '/proc/driver/nvidia';
const PCI = '/sys/bus/pci/devices';
/** File of all computing on cards of AMD. */
const KFD = '/dev/kfd';
/** Memory, random numbers and the terminal: no program works without them. */
const COMMON: ReadonlySet<Device> = new Set([
  ...(['c1:3', 'c1:5', 'c1:8', 'c1:9', 'c5:0', 'c5:2'] as const),
]);

export class DeviceFiles {
  readonly #machine: MachineView;

  constructor(machine: MachineView) {
    this.#machine = machine;
  }

  /** Asked anew at each look that the driver answers: loaded again it may number its cards anew. */
  with(card: SeenCard): SeenCard {
    const found = this.#of(card);
    const devices = found.filter((device) => device !== null);
    // With one missing the card could be opened by it: none of it is known then.
    const isWhole = devices.length === found.length && !devices.some((one) => COMMON.has(one));
    return isWhole && devices.length > 0 ? { ...card, devices } : card;
  }

  #of(card: SeenCard): readonly (Device | null)[] {
    if (card.vendor === DEVICES)
      return (card.files ?? []).map((path) => this.#machine.device(path));
    return card.vendor === 'nvidia' ? this.#ofNvidia(card) : this.#ofKernel(card);
  }

  /** A slice is opened by its card's file and by one of its own. */
  #ofNvidia({ busId, partOf, instance }: SeenCard): readonly (Device | null)[] {
    const { device } = this.#machine;
    const minor = this.#number(`${NVIDIA}/gpus/${busId}/information`, 'Device Minor');
    if (minor === null) return [];
    const card = device(`/dev/nvidia${minor}`);
    if (partOf === undefined) return [card];
    const access = `${NVIDIA}/capabilities/gpu${minor}/mig/gi${instance}/access`;
    const cap = this.#number(access, 'DeviceFileMinor');
    return [card, cap === null ? null : device(`/dev/nvidia-caps/nvidia-cap${cap}`)];
  }

  #number(path: string, title: string): number | null {
    const text = this.#machine.read(path) ?? '';
    const found = new RegExp(`^${title}:[ \\t]*(\\d{1,9})[ \\t]*$`, 'm').exec(text)?.[1];
    return found === undefined ? null : Number(found);
  }

  #ofKernel({ vendor, busId }: SeenCard): readonly (Device | null)[] {
    if (busId === '') return [];
    const folder = `${PCI}/${busId}/drm`;
    const names = this.#machine.namesIn(folder).filter((name) => /^(card|renderD)\d+$/.test(name));
    const own = names.map((name) => deviceIn(this.#machine.read(`${folder}/${name}/dev`)));
    const all = vendor === 'amd' ? this.#machine.device(KFD) : null;
    return own.length === 0 || all === null ? own : [...own, all];
  }
}

/** Numbers of a character device as the kernel writes them: `226:128`. */
function deviceIn(text: string | null): Device | null {
  const [, major, minor] = /^(\d+):(\d+)$/.exec(text?.trim() ?? '') ?? [];
  return major === undefined ? null : `c${Number(major)}:${Number(minor)}`;
}
