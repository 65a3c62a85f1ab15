// Cards of AMD by `amd-smi`, else by `rocm-smi`, else by what the kernel lists.

import { firstLine } from '../../core/cells.ts';
import { withLinks } from '../../core/links.ts';
import {
  readAmdLinks,
  readRocmLinks,
  readRocmVersion,
  versionIn,
} from '../../core/others/amd-links.ts';
import { type AmdTexts, readAmdSmi } from '../../core/others/amd-smi.ts';
import { cardOfKernel } from '../../core/others/drm.ts';
import { readRocmPids, readRocmSmi } from '../../core/others/rocm-smi.ts';
import type { Answer } from '../../model/answer.ts';
import { type MachineView, type Tool, textOf } from '../../ports/machine-view.ts';
import { cardsOfKernel } from './kernel-cards.ts';

/** Not known. */
const NO_LINKS: ReadonlyMap<number, number> | null = null;
const NO_VERSION: string | null = null;
/** Between two questions for what a tool has not said. */
const LOOKS_BETWEEN = 30;
const VENDOR = 'amd';
const AMD = { vendor: VENDOR, tools: 'neither amd-smi nor rocm-smi', cardOf: cardOfKernel };
const ROCM = ['--showid', '--showuniqueid', '--showproductname', '--showbus', '--showmeminfo'];

export class Amd {
  readonly #machine: MachineView;
  readonly #amdSmi: Tool;
  readonly #rocmSmi: Tool;
  /** Asked for by themselves: what hangs on them must not keep the others from being asked. */
  readonly #wires: Tool;
  readonly #version: Tool;
  readonly #rocmWires: Tool;
  /** What does not change while the cards stay the same: each call starts a Python. */
  #static = { list: '', text: '', links: NO_LINKS, rocm: NO_VERSION, looksLeft: 0 };

  constructor(machine: MachineView) {
    this.#machine = machine;
    this.#amdSmi = machine.tool('amd-smi');
    this.#rocmSmi = machine.tool('rocm-smi');
    this.#wires = machine.tool('amd-smi');
    this.#version = machine.tool('amd-smi');
    this.#rocmWires = machine.tool('rocm-smi');
  }

  /** Returns null when the machine has none. */
  async look(): Promise<Answer | null> {
    if (this.#amdSmi.isThere) return this.#byAmdSmi();
    return this.#rocmSmi.isThere ? this.#byRocmSmi() : cardsOfKernel(this.#machine, AMD);
  }

  async #byAmdSmi(): Promise<Answer> {
    const list = await this.#amdSmi.run('list', '--json');
    if (list.kind === 'mute') return { kind: 'silent', vendor: VENDOR, words: list.words };
    if (this.#isToAsk(list.text)) {
      const [text, wires, version] = await Promise.all([
        this.#amdSmi.run('static', '--json'),
        this.#wires.run('topology', '--json'),
        this.#version.run('version', '--json'),
      ]);
      const rocm = readRocmVersion(textOf(version)) ?? this.#rocmOfFile();
      const links = readAmdLinks(textOf(wires));
      const isRead = links !== null && text.kind === 'said' && text.code === 0;
      const known = { list: list.text, text: textOf(text), links, rocm };
      this.#static = { ...known, looksLeft: looksUntilAsked(isRead) };
    }
    const texts: AmdTexts = {
      list: list.text,
      static: this.#static.text,
      metric: textOf(await this.#amdSmi.run('metric', '--json')),
      process: textOf(await this.#amdSmi.run('process', '--json')),
    };
    const seen = readAmdSmi(texts);
    if (seen === null) return unread('amd-smi', list.code, list.text);
    const { links, rocm } = this.#static;
    const cards = withLinks(seen.cards, links ?? new Map());
    const driver = driverWords(seen.driver, rocm);
    return { kind: 'answered', vendor: VENDOR, lost: [], remark: null, ...seen, cards, driver };
  }

  #isToAsk(list: string): boolean {
    if (this.#static.list !== list || this.#static.looksLeft === 0) return true;
    this.#static.looksLeft -= 1;
    return false;
  }

  #rocmOfFile(): string | null {
    return versionIn(this.#machine.read('/opt/rocm/.info/version') ?? '');
  }

  async #byRocmSmi(): Promise<Answer> {
    const said = await this.#rocmSmi.run(...ROCM, 'vram', '--showuse', '--json');
    if (said.kind === 'mute') return { kind: 'silent', vendor: VENDOR, words: said.words };
    const cards = readRocmSmi(said.text);
    if (cards === null || said.code !== 0) return unread('rocm-smi', said.code, said.text);
    const processes = readRocmPids(textOf(await this.#rocmSmi.run('--showpids', '--json')));
    const list = cards.map(({ uuid }) => uuid).join();
    if (this.#isToAsk(list)) {
      const wires = await this.#rocmWires.run('--showtopotype', '--json');
      const links = readRocmLinks(textOf(wires));
      // Of a card alone it never says anything.
      const looksLeft = looksUntilAsked(links !== null || cards.length < 2);
      this.#static = { list, text: '', links, rocm: this.#rocmOfFile(), looksLeft };
    }
    const { links, rocm } = this.#static;
    const driver = driverWords(
      versionIn(this.#machine.read('/sys/module/amdgpu/version') ?? ''),
      rocm,
    );
    const answer = { kind: 'answered', vendor: VENDOR, lost: [], remark: null } as const;
    return { ...answer, driver, cards: withLinks(cards, links ?? new Map()), processes };
  }
}

/** What could not be read is asked for again some looks later: the driver may be coming up. */
function looksUntilAsked(isRead: boolean): number {
  return isRead ? Number.POSITIVE_INFINITY : LOOKS_BETWEEN;
}

/** `6.14.5 (ROCm 7.0)`; null: neither is known. */
function driverWords(driver: string | null, rocm: string | null): string | null {
  if (rocm === null) return driver;
  return driver === null ? `ROCm ${rocm}` : `${driver} (ROCm ${rocm})`;
}

/** The driver is not loaded, or the machine has no card. */
const NOTHING = /unable to detect any gpu devices.*/i;

function unread(tool: string, code: number | null, text: string): Answer {
  const nothing = NOTHING.exec(text)?.[0];
  if (nothing !== undefined) return { kind: 'failed', vendor: VENDOR, words: firstLine(nothing) };
  const words = `${tool} (exit code ${code}) says: ${firstLine(text) || 'nothing'}`;
  return { kind: 'silent', vendor: VENDOR, words };
}
