// The cards of the machine, of all makers.

import { soundAnswer } from '../core/sound.ts';
import type { Answer, SeenCard } from '../model/answer.ts';
import type { MachineView } from '../ports/machine-view.ts';
import { DeviceFiles } from './device-files.ts';
import { Amd } from './makers/amd.ts';
import { Devices } from './makers/devices.ts';
import { Intel } from './makers/intel.ts';
import { Nvidia } from './makers/nvidia.ts';

export class CardSource {
  readonly machine: MachineView;
  readonly #makers: { look(): Promise<Answer | null> }[];
  readonly #files: DeviceFiles;
  #devices: string | null = null;

  constructor(machine: MachineView) {
    this.machine = machine;
    this.#files = new DeviceFiles(machine);
    this.#makers = [new Nvidia(machine), new Amd(machine), new Intel(machine)];
  }

  /** A program of the operator that lists further devices. False: it is asked already. */
  ask(devices: string): boolean {
    if (this.#devices === devices) return false;
    this.#devices = devices;
    this.#makers.push(new Devices(this.machine, devices));
    return true;
  }

  /**
   * One look, bounded in time; never rejects. A maker of whom this machine has no tool says
   * nothing.
   */
  async look(): Promise<readonly Answer[]> {
    const answers = await Promise.all(this.#makers.map((maker) => maker.look()));
    return answers.flatMap((answer) =>
      answer === null ? [] : [this.#withPlace(soundAnswer(answer))],
    );
  }

  #withPlace(answer: Answer): Answer {
    if (answer.kind !== 'answered') return answer;
    const cards = answer.cards.map((card) => this.#files.with(this.#withNumaNode(card)));
    return { ...answer, cards };
  }

  /** Machines with one memory say -1. */
  #withNumaNode(card: SeenCard): SeenCard {
    if (card.numaNode !== undefined) return card;
    const numaNode = Number(
      this.machine.read(`/sys/bus/pci/devices/${card.busId}/numa_node`) ?? -1,
    );
    return Number.isInteger(numaNode) && numaNode >= 0 ? { ...card, numaNode } : card;
  }
}
