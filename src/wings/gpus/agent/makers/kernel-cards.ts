// Cards of a maker whose tool is not there, as the kernel lists them.

import type { Answer, SeenCard } from '../../model/answer.ts';
import type { MachineView } from '../../ports/machine-view.ts';

const DRM = '/sys/class/drm';

/** Text of a file, empty without it: of the card's device, or beside that. */
type ReadFile = (path: string) => string;

interface Maker {
  readonly vendor: string;
  /** Which tools are not there, in words: `no xpu-smi`. */
  readonly tools: string;
  readonly cardOf: (file: ReadFile, index: number, beside: ReadFile) => SeenCard | null;
}

/** Returns null when the machine has none. */
export function cardsOfKernel({ namesIn, read }: MachineView, maker: Maker): Answer | null {
  const names = [...namesIn(DRM)].sort().filter((name) => /^card\d+$/.test(name));
  const cards = names.flatMap((name, index) => {
    const beside = (path: string): string => read(`${DRM}/${name}/${path}`) ?? '';
    const card = maker.cardOf((path) => beside(`device/${path}`), index, beside);
    return card === null ? [] : [card];
  });
  if (cards.length === 0) return null;
  const remark = `there is ${maker.tools}: who uses the cards is not known`;
  const found = { driver: null, lost: [], processes: [], cards, remark };
  return { kind: 'answered', vendor: maker.vendor, ...found };
}
