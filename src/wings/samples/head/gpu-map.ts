// All gpus of the cluster together: how much each worked over time, and who has it.

import { ok } from '../../../kernel/base/result.ts';
import { gpusOf } from '../../../kernel/head/answers/gpu-view.ts';
import type { Handler } from '../../../kernel/head/http/call.ts';
import type { Node } from '../../../kernel/machine/nodes/facts.ts';
import type { EpochId } from '../../../kernel/model/ids.ts';
import type { CardUseView } from '../api/samples.ts';
import type { Holder } from '../model/chunk.ts';
import type { GpuUse, Point } from '../model/look.ts';
import type { Samples } from './samples.ts';

const HOUR_MS = 3_600_000;
/** Cards of an answer: 200 nodes with eight of them. */
const CARDS_MAX = 1600;
/** Earlier tasks of an answer, and of one node. */
const PAST_MAX = 4000;
const PAST_OF_NODE_MAX = 100;
const PAST_OF_NODE_MIN = 8;

type Figure = 'busy' | 'memory';
type MeansOf = ReturnType<Samples['gpuMeans']>['meansOf'];

export const gpuMap: Handler<'gpuMap'> = ({ engine, samples, clock }, { query }) => {
  const { from = clock.now() - HOUR_MS, figure = 'busy' } = query;
  const { meansOf, ...grid } = samples.gpuMeans(from);
  const share = Math.floor(PAST_MAX / Math.max(1, engine.state.nodes.size));
  const pastMax = Math.min(PAST_OF_NODE_MAX, Math.max(PAST_OF_NODE_MIN, share));
  const byName = new Intl.Collator('en', { numeric: true }).compare;
  const all = [...engine.state.nodes.values()].sort((a, b) => byName(a.name, b.name));
  const nodes: { name: string; cards: CardUseView[] }[] = [];
  let left = CARDS_MAX;
  for (const node of all) {
    const count = node.gpus?.cards.length ?? 0;
    if (count === 0) continue;
    if (count > left) return ok({ ...grid, isWhole: false, nodes });
    left -= count;
    const past = samples.holders(node.name, from, pastMax);
    const lastOf = (number: number) => samples.lastOf(node.name, number);
    nodes.push({ name: node.name, cards: cardsOf(node, figure, { meansOf, lastOf, past }) });
  }
  return ok({ ...grid, isWhole: true, nodes });
};

interface Seen {
  readonly meansOf: MeansOf;
  readonly lastOf: (number: number) => GpuUse | null;
  readonly past: readonly Holder[];
}

function cardsOf(node: Node, figure: Figure, { meansOf, lastOf, past }: Seen): CardUseView[] {
  const numbers = node.gpus?.cards.map(({ number }) => number) ?? [];
  return (gpusOf(node)?.cards ?? []).map((card, at) => {
    const { label, type, state, why, tasks, memoryBytes, uuid } = card;
    const series = figure === 'busy' ? `gpu${numbers[at]}` : `gpu${numbers[at]}-memory`;
    const means = meansOf(node.name, series);
    const percents = figure === 'busy' ? means : means.map((point) => shareOf(point, memoryBytes));
    const users = usersOf(node, tasks);
    const { watts = null, celsius = null, slowedBy = null } = lastOf(numbers[at] ?? -1) ?? {};
    const now = { label, type, state, why, tasks, users, watts, celsius, slowedBy };
    return { ...now, past: pastOf(past, uuid), percents };
  });
}

function pastOf(all: readonly Holder[], uuid: string): CardUseView['past'] {
  const of = all.filter(({ cards }) => cards.split(',').includes(uuid));
  return of.map(({ epochId, owner, from, until }) => {
    return { task: epochId, user: owner, from, until };
  });
}

function shareOf(bytes: Point, all: number | null): Point {
  if (bytes === null || all === null || all === 0) return null;
  return Math.min(100, Math.round((100 * bytes) / all));
}

/** Nobody is named of tasks that are over for the head. */
function usersOf({ holding }: Node, tasks: readonly string[]): string[] {
  const owners = tasks.flatMap((id) => holding.get(id as EpochId)?.task?.job.owner ?? []);
  return [...new Set(owners)];
}
