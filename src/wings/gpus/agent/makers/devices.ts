// Devices that a program of the operator lists (`node.devices`).

import { firstLine } from '../../core/cells.ts';
import { DEVICES, EXPECTED, readDevices } from '../../core/devices.ts';
import type { Answer } from '../../model/answer.ts';
import type { MachineView, Tool } from '../../ports/machine-view.ts';

export class Devices {
  readonly #program: string;
  readonly #tool: Tool;

  constructor(machine: MachineView, program: string) {
    this.#program = program;
    this.#tool = machine.tool(program);
  }

  async look(): Promise<Answer> {
    if (!this.#tool.isThere) return silent(`${this.#program} of node.devices cannot be run`);
    const said = await this.#tool.run();
    if (said.kind === 'mute') return silent(said.words);
    const seen = said.code === 0 ? readDevices(said.text) : null;
    if (seen === null) {
      const words = `says: ${firstLine(said.text) || 'nothing'}; expected ${EXPECTED}`;
      return silent(`${this.#program} of node.devices (exit code ${said.code}) ${words}`);
    }
    return {
      kind: 'answered',
      vendor: DEVICES,
      driver: null,
      lost: [],
      processes: [],
      ...seen,
    };
  }
}

function silent(words: string): Answer {
  return { kind: 'silent', vendor: DEVICES, words };
}
