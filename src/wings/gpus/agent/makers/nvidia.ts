// Cards of NVIDIA by `nvidia-smi`; without it, what the kernel's driver lists.

import { firstLine } from '../../core/cells.ts';
import { withLinks } from '../../core/links.ts';
import {
  APP_FIELDS,
  FIELDS,
  failureIn,
  NEEDED,
  type NvidiaCard,
  readApps,
  readCards,
  readLost,
  unknownField,
} from '../../core/nvidia/csv.ts';
import { cardOfDriver } from '../../core/nvidia/driver-file.ts';
import { readLinks } from '../../core/nvidia/links.ts';
import { cudaVersionIn, driverWords, setUpNotes } from '../../core/nvidia/set-up.ts';
import {
  placeOnSlices,
  readSlices,
  slicesByPid,
  withInstances,
  withSlices,
} from '../../core/nvidia/slices.ts';
import { NO_XIDS, type Xids, xidsAfter } from '../../core/nvidia/xid.ts';
import type { Answer } from '../../model/answer.ts';
import { type MachineView, type Said, type Tool, textOf } from '../../ports/machine-view.ts';
import { NvidiaSetUp } from './nvidia-set-up.ts';

const VENDOR = 'nvidia';
const FORMAT = '--format=csv,noheader,nounits';
const DRIVER_FOLDER = '/proc/driver/nvidia/gpus';

/** Cards may be given without knowing their links: who did not say is not asked again soon. */
const LOOKS_BETWEEN = 500;
const NO_LINKS: ReadonlyMap<number, number> = new Map();

interface Links {
  readonly key: string;
  readonly joined: ReadonlyMap<number, number>;
  looksLeft: number;
}

interface Cuda {
  readonly driver: string;
  /** Null: not known. */
  version: string | null;
  looksLeft: number;
}

export class Nvidia {
  readonly #machine: MachineView;
  readonly #tool: Tool;
  /** Those that this driver knows. */
  #fields: readonly string[] = FIELDS;

  #xids: Xids = NO_XIDS;
  /** Asked for by itself: what hangs on it must not keep the others from being asked. */
  readonly #topology: Tool;
  #links: Links | null = null;
  readonly #setUp: NvidiaSetUp;
  /** Asked for by itself, too: nothing depends on what it says. */
  readonly #versions: Tool;
  #cuda: Cuda | null = null;

  constructor(machine: MachineView) {
    this.#machine = machine;
    this.#tool = machine.tool('nvidia-smi');
    this.#topology = machine.tool('nvidia-smi');
    this.#versions = machine.tool('nvidia-smi');
    this.#setUp = new NvidiaSetUp(machine);
  }

  /** Returns null when the machine has none. */
  async look(): Promise<Answer | null> {
    if (!this.#tool.isThere) return ofDriver(this.#machine);
    const said = await this.#askCards();
    if (said.kind === 'mute') return { kind: 'silent', vendor: VENDOR, words: said.words };
    const { text, code } = said;
    const cards = readCards(text, this.#fields);
    const lost = readLost(text);
    if (cards.length === 0 && lost.length === 0) return unread(text, code);
    return this.#withProcesses(cards, lost);
  }

  /** Leaves out what the driver refuses, one name at a time. */
  async #askCards(): Promise<Said> {
    for (let left = FIELDS.length; left > 0; left -= 1) {
      const said = await this.#tool.run(`--query-gpu=${this.#fields.join(',')}`, FORMAT);
      const refused = unknownField(textOf(said));
      if (refused === null || NEEDED.has(refused)) return said;
      this.#fields = this.#fields.filter((field) => field !== refused);
    }
    return { kind: 'mute', words: 'nvidia-smi knows none of the fields that it is asked for' };
  }

  /** What the log has said of a card counts until the driver says that the card is well. */
  #withXids(seen: readonly NvidiaCard[]): NvidiaCard[] {
    this.#xids = xidsAfter(this.#xids, this.#machine.kernelLog());
    return seen.map((one) => {
      const words = this.#xids.get(one.card.busId);
      if (words === undefined || one.isCleared) return one;
      return { ...one, card: { ...one.card, ills: [...one.card.ills, words] } };
    });
  }

  /** Asked once for each set of cards: wires do not change while a machine is up. */
  async #linksOf(seen: readonly NvidiaCard[]): Promise<ReadonlyMap<number, number>> {
    if (seen.length < 2) return NO_LINKS;
    const key = seen.map(({ card }) => `${card.index} ${card.uuid}`).join();
    const known = this.#links?.key === key ? this.#links : null;
    if (known !== null && known.looksLeft > 0) {
      known.looksLeft -= 1;
      return known.joined;
    }
    const said = await this.#topology.run('topo', '-m');
    const isKnown = said.kind === 'said' && said.code === 0;
    const joined = isKnown ? readLinks(said.text) : NO_LINKS;
    this.#links = { key, joined, looksLeft: isKnown ? Number.POSITIVE_INFINITY : LOOKS_BETWEEN };
    return joined;
  }

  /** Beside the look, once of each driver that answers. Drivers before 535 do not say it so. */
  #askCuda(driver: string): void {
    const known = this.#cuda?.driver === driver ? this.#cuda : null;
    if (known !== null && known.looksLeft > 0) {
      known.looksLeft -= 1;
      return;
    }
    const asked = { driver, version: known?.version ?? null, looksLeft: LOOKS_BETWEEN };
    this.#cuda = asked;
    void this.#versions.run('--version').then((said) => {
      if (said.kind === 'mute') return;
      asked.version = cudaVersionIn(said.text);
      asked.looksLeft = Number.POSITIVE_INFINITY;
    });
  }

  async #withProcesses(
    seen: readonly NvidiaCard[],
    lost: ReturnType<typeof readLost>,
  ): Promise<Answer> {
    const driver = seen.find((one) => one.driver !== null)?.driver ?? null;
    if (driver !== null) this.#askCuda(driver);
    const apps = await this.#tool.run(`--query-compute-apps=${APP_FIELDS}`, FORMAT);
    const isCut = seen.some((one) => one.isCut);
    const listed = isCut ? readSlices(textOf(await this.#tool.run('-L'))) : [];
    const xml = isCut ? textOf(await this.#tool.run('-q', '-x')) : '';
    const slices = withInstances(listed, xml);
    const placed = slicesByPid(xml, slices);
    const setUp = this.#setUp.look(driver, seen);
    const cards = withLinks(withSlices(this.#withXids(seen), slices), await this.#linksOf(seen));
    const cuda = this.#cuda?.driver === driver ? this.#cuda.version : null;
    return {
      ...({ kind: 'answered', vendor: VENDOR, lost } as const),
      driver: driver === null ? null : driverWords(driver, cuda, setUp),
      notes: setUpNotes(setUp),
      cards,
      processes: placeOnSlices(readApps(textOf(apps)), slices, placed),
      remark: apps.kind === 'mute' ? `who uses the cards is not known: ${apps.words}` : null,
    };
  }
}

function unread(text: string, code: number | null): Answer {
  const words = failureIn(text);
  if (words !== null) return { kind: 'failed', vendor: VENDOR, words };
  const said = firstLine(text) || 'nothing';
  return { kind: 'silent', vendor: VENDOR, words: `nvidia-smi (exit code ${code}) says: ${said}` };
}

function ofDriver({ namesIn, read }: MachineView): Answer | null {
  const cards = [...namesIn(DRIVER_FOLDER)].sort().flatMap((bus, index) => {
    const text = read(`${DRIVER_FOLDER}/${bus}/information`);
    const card = text === null ? null : cardOfDriver(text, index);
    return card === null ? [] : [card];
  });
  if (cards.length === 0) return null;
  const remark = 'there is no nvidia-smi: who uses the cards, and how they are, is not known';
  return {
    kind: 'answered',
    vendor: VENDOR,
    driver: null,
    lost: [],
    processes: [],
    cards,
    remark,
  };
}
