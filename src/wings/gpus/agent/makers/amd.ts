// Cards of AMD by `amd-smi`, else by `rocm-smi`, else by what the kernel lists.

import { firstLine } from '../../core/cells.ts';
import { type AmdTexts, readAmdSmi } from '../../core/others/amd-smi.ts';
import { cardOfKernel } from '../../core/others/drm.ts';
import { readRocmPids, readRocmSmi } from '../../core/others/rocm-smi.ts';
import type { Answer } from '../../model/answer.ts';
import { type MachineView, type Tool, textOf } from '../../ports/machine-view.ts';
import { cardsOfKernel } from './kernel-cards.ts';

const VENDOR = 'amd';
const AMD = { vendor: VENDOR, tools: 'neither amd-smi nor rocm-smi', cardOf: cardOfKernel };
const ROCM = ['--showid', '--showuniqueid', '--showproductname', '--showbus', '--showmeminfo'];

export class Amd {
  readonly #machine: MachineView;
  readonly #amdSmi: Tool;
  readonly #rocmSmi: Tool;
  /** What does not change while the cards stay the same: each call starts a Python. */
  #static = { list: '', text: '' };

  constructor(machine: MachineView) {
    this.#machine = machine;
    this.#amdSmi = machine.tool('amd-smi');
    this.#rocmSmi = machine.tool('rocm-smi');
  }

  /** Returns null when the machine has none. */
  async look(): Promise<Answer | null> {
    if (this.#amdSmi.isThere) return this.#byAmdSmi();
    return this.#rocmSmi.isThere ? this.#byRocmSmi() : cardsOfKernel(this.#machine, AMD);
  }

  async #byAmdSmi(): Promise<Answer> {
    const list = await this.#amdSmi.run('list', '--json');
    if (list.kind === 'mute') return { kind: 'silent', vendor: VENDOR, words: list.words };
    if (this.#static.list !== list.text) {
      const text = textOf(await this.#amdSmi.run('static', '--json'));
      this.#static = { list: list.text, text };
    }
    const texts: AmdTexts = {
      list: list.text,
      static: this.#static.text,
      metric: textOf(await this.#amdSmi.run('metric', '--json')),
      process: textOf(await this.#amdSmi.run('process', '--json')),
    };
    const seen = readAmdSmi(texts);
    if (seen === null) return unread('amd-smi', list.code, list.text);
    return { kind: 'answered', vendor: VENDOR, lost: [], remark: null, ...seen };
  }

  async #byRocmSmi(): Promise<Answer> {
    const said = await this.#rocmSmi.run(...ROCM, 'vram', '--showuse', '--json');
    if (said.kind === 'mute') return { kind: 'silent', vendor: VENDOR, words: said.words };
    const cards = readRocmSmi(said.text);
    if (cards === null || said.code !== 0) return unread('rocm-smi', said.code, said.text);
    const processes = readRocmPids(textOf(await this.#rocmSmi.run('--showpids', '--json')));
    const driver = null;
    return { kind: 'answered', vendor: VENDOR, lost: [], remark: null, driver, cards, processes };
  }
}

/** The driver is not loaded, or the machine has no card. */
const NOTHING = /unable to detect any gpu devices.*/i;

function unread(tool: string, code: number | null, text: string): Answer {
  const nothing = NOTHING.exec(text)?.[0];
  if (nothing !== undefined) return { kind: 'failed', vendor: VENDOR, words: firstLine(nothing) };
  const words = `${tool} (exit code ${code}) says: ${firstLine(text) || 'nothing'}`;
  return { kind: 'silent', vendor: VENDOR, words };
}
