// Cards of Intel by `xpu-smi`.

import { firstLine } from '../../core/cells.ts';
import { readXpuCards, readXpuProcesses } from '../../core/others/xpu-smi.ts';
import type { Answer } from '../../model/answer.ts';
import { type MachineView, type Tool, textOf } from '../../ports/machine-view.ts';

const VENDOR = 'intel';

export class Intel {
  readonly #tool: Tool;

  constructor(machine: MachineView) {
    this.#tool = machine.tool('xpu-smi');
  }

  /** Returns null when the machine has none. */
  async look(): Promise<Answer | null> {
    if (!this.#tool.isThere) return null;
    const said = await this.#tool.run('discovery', '-j');
    if (said.kind === 'mute') return { kind: 'silent', vendor: VENDOR, words: said.words };
    const cards = readXpuCards(said.text);
    if (cards === null) {
      const words = `xpu-smi (exit code ${said.code}) says: ${firstLine(said.text) || 'nothing'}`;
      return { kind: 'silent', vendor: VENDOR, words };
    }
    if (cards.length === 0) return null;
    const processes = readXpuProcesses(textOf(await this.#tool.run('ps', '-j')), cards);
    const driver = null;
    return { kind: 'answered', vendor: VENDOR, lost: [], remark: null, driver, cards, processes };
  }
}
