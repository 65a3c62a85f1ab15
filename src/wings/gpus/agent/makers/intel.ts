// Cards of Intel by `xpu-smi`.

import { firstLine } from '../../core/cells.ts';
import { intelCardOfKernel } from '../../core/others/drm.ts';
import {
  readXpuCards,
  readXpuMemory,
  readXpuProcesses,
  withXpuUse,
  XPU_FIELDS,
} from '../../core/others/xpu-smi.ts';
import type { Answer, SeenCard } from '../../model/answer.ts';
import { type MachineView, type Tool, textOf } from '../../ports/machine-view.ts';
import { cardsOfKernel } from './kernel-cards.ts';

const VENDOR = 'intel';
const INTEL = { vendor: VENDOR, tools: 'no xpu-smi', cardOf: intelCardOfKernel };
const FORMAT = '--format=csv,noheader,nounits';
/** A tool that does not say what cards use is of version 1, which never will, or has stumbled. */
const LOOKS_BETWEEN = 30;
/** Cards of which is asked what they have. */
const CARDS_MAX = 64;

export class Intel {
  readonly #machine: MachineView;
  readonly #tool: Tool;
  /** By uuid; null: it did not say. */
  readonly #memory = new Map<string, number | null>();
  /** Looks until it is asked again what cards use. */
  #looksLeft = 0;

  constructor(machine: MachineView) {
    this.#machine = machine;
    this.#tool = machine.tool('xpu-smi');
  }

  /** Returns null when the machine has none. */
  async look(): Promise<Answer | null> {
    if (!this.#tool.isThere) return cardsOfKernel(this.#machine, INTEL);
    const said = await this.#tool.run('discovery', '-j');
    if (said.kind === 'mute') return { kind: 'silent', vendor: VENDOR, words: said.words };
    const cards = readXpuCards(said.text);
    if (cards === null) {
      const words = `xpu-smi (exit code ${said.code}) says: ${firstLine(said.text) || 'nothing'}`;
      return { kind: 'silent', vendor: VENDOR, words };
    }
    if (cards.length === 0) return null;
    const processes = readXpuProcesses(textOf(await this.#tool.run('ps', '-j')), cards);
    const whole = await this.#withUse(await this.#withMemory(cards));
    const shown = { lost: [], remark: null, driver: null, cards: whole, processes };
    return { kind: 'answered', vendor: VENDOR, ...shown };
  }

  /** Asked once of each card: it stays. */
  async #withMemory(cards: readonly SeenCard[]): Promise<SeenCard[]> {
    const found: SeenCard[] = [];
    for (const card of cards) {
      let bytes = this.#memory.get(card.uuid) ?? null;
      if (!this.#memory.has(card.uuid) && this.#memory.size < CARDS_MAX) {
        const said = await this.#tool.run('discovery', '-d', String(card.index ?? 0), '-j');
        bytes = readXpuMemory(textOf(said));
        if (said.kind === 'said') this.#memory.set(card.uuid, bytes);
      }
      found.push({ ...card, memoryBytes: bytes });
    }
    return found;
  }

  /** Version 1 takes a start for each card: what they use is not asked of it. */
  async #withUse(cards: readonly SeenCard[]): Promise<readonly SeenCard[]> {
    this.#looksLeft -= 1;
    if (this.#looksLeft > 0) return cards;
    const said = await this.#tool.run(`--query-gpu=${XPU_FIELDS.join(',')}`, FORMAT);
    if (said.kind === 'said' && said.code === 0) return withXpuUse(cards, said.text);
    if (said.kind === 'said') this.#looksLeft = LOOKS_BETWEEN;
    return cards;
  }
}
