// Answers of tools as far as they can be true: what no card can have is not known, and what no
// table could show is cut. A head would not take a node in that tells such a thing, for one card
// that tells nonsense.

import { toPlainLine } from '../../../kernel/base/plain-line.ts';
import { isWhole } from '../../../kernel/base/whole.ts';
import { parseGpuType } from '../../../kernel/model/gpu-wish.ts';
import {
  CARDS_PER_NODE_MAX,
  GPU_NOTES_MAX,
  MEMORY_PER_NODE_MAX,
} from '../../../kernel/model/limits.ts';
import type { Answer, SeenCard, SeenProcess } from '../model/answer.ts';
import { corrected, warmth } from './cells.ts';

const NAME_LENGTH_MAX = 100;
const WORDS_LENGTH_MAX = 200;
const ILLS_MAX = 3;
const INDEX_MAX = 100_000;
/** More than any card draws, and outside of what chips live through. */
const WATTS_MAX = 10_000;
const [CELSIUS_MIN, CELSIUS_MAX] = [-100, 250];
/** Four times as many as Linux knows. */
const NUMA_NODE_MAX = 4096;
const PID_MAX = 2 ** 31;
/** More than a kernel lets run by default. */
const PROCESSES_MAX = 32_768;
const UUID = /^[\w.:/-]{1,100}$/;
const ORDINAL = /^[\w.:]{0,20}$/;
const BUS = /^[\w.:-]{1,40}$/;

export function soundAnswer(answer: Answer): Answer {
  if (answer.kind !== 'answered') return { ...answer, words: plain(answer.words) };
  const named = answer.cards.filter(isNamed);
  const cards = [...new Map(named.map((card) => [card.uuid, card])).values()].slice(
    0,
    CARDS_PER_NODE_MAX,
  );
  const left = answer.cards.length - cards.length;
  const lost = answer.lost.slice(0, CARDS_PER_NODE_MAX);
  const remarks = [
    ...(answer.remark === null ? [] : [plain(answer.remark)]),
    ...(left === 0 ? [] : [`what is told of ${left} more cannot be of gpus`]),
  ];
  return {
    ...answer,
    driver: answer.driver === null ? null : plain(answer.driver, NAME_LENGTH_MAX),
    cards: cards.map(soundCard),
    lost: lost.map(({ busId, words }) => ({ busId, words: plain(words) })),
    notes: (answer.notes ?? []).slice(0, GPU_NOTES_MAX).map((words) => plain(words)),
    processes: answer.processes.filter(isProcess).slice(0, PROCESSES_MAX).map(soundProcess),
    remark: remarks.length === 0 ? null : remarks.join('; '),
  };
}

function isNamed({ uuid, partOf, ordinal = '' }: SeenCard): boolean {
  return [uuid, partOf ?? uuid].every((name) => UUID.test(name)) && ORDINAL.test(ordinal);
}

function soundCard({
  numaNode,
  linkedWith,
  watts,
  celsius,
  correctedErrors,
  ...card
}: SeenCard): SeenCard {
  const { name, type, index, busId, memoryBytes, memoryUsedBytes, busyPercent, ills } = card;
  return {
    ...card,
    name: plain(name, NAME_LENGTH_MAX),
    type: parseGpuType(type).ok ? type : 'gpu',
    index: wholeUpTo(index, INDEX_MAX),
    busId: BUS.test(busId) ? busId : '',
    memoryBytes: wholeUpTo(memoryBytes, MEMORY_PER_NODE_MAX),
    memoryUsedBytes: wholeUpTo(memoryUsedBytes, MEMORY_PER_NODE_MAX),
    busyPercent:
      busyPercent !== null && busyPercent >= 0 && busyPercent <= 100 ? busyPercent : null,
    ills: ills.slice(0, ILLS_MAX).map((words) => plain(words)),
    ...warmth(within(watts, 0, WATTS_MAX), within(celsius, CELSIUS_MIN, CELSIUS_MAX)),
    ...corrected(within(correctedErrors, 0, Number.MAX_SAFE_INTEGER)),
    ...(isWhole(numaNode, 0, NUMA_NODE_MAX) ? { numaNode } : {}),
    ...(linkedWith !== undefined && UUID.test(linkedWith) ? { linkedWith } : {}),
  };
}

function isProcess({ pid }: SeenProcess): boolean {
  return isWhole(pid, 1, PID_MAX);
}

function soundProcess(one: SeenProcess): SeenProcess {
  const memoryBytes = wholeUpTo(one.memoryBytes, MEMORY_PER_NODE_MAX);
  return { ...one, program: plain(one.program), memoryBytes };
}

/** Null: it is not known, or cannot be. */
function wholeUpTo(amount: number | null, max: number): number | null {
  return amount !== null && isWhole(amount, 0, max) ? amount : null;
}

/** Null: it is not known, or cannot be. */
function within(amount: number | undefined, min: number, max: number): number | null {
  return amount !== undefined && amount >= min && amount <= max ? Math.round(amount) : null;
}

function plain(text: string, lengthMax = WORDS_LENGTH_MAX): string {
  return toPlainLine(text.slice(0, lengthMax), '?');
}
