// All gpus of the cluster as a map, nodes by cards: how much each works, how full it is, and who has it.

import { useMemo, useState } from 'preact/hooks';
import type { ReplyOf } from '../../../kernel/api/routes.ts';
import { now } from '../../../kernel/page/data/clock.ts';
import { useCall } from '../../../kernel/page/data/query.ts';
import { hrefOf, useChosen } from '../../../kernel/page/data/route.ts';
import { Command, Empty, Loaded, Panel } from '../../../kernel/page/parts/basic.tsx';
import { cardWords, jobOfTask } from '../../../kernel/page/pure/cards.ts';
import { instantWords, ownClock } from '../../../kernel/page/pure/words.ts';
import { heldIn, type Span } from '../model/past.ts';

type GpuMap = ReplyOf<'gpuMap'>;
type Card = GpuMap['nodes'][number]['cards'][number];
type Percent = number | null | undefined;

const HOUR_MS = 3_600_000;
const SPAN_MS: Readonly<Record<string, number>> = {
  hour: HOUR_MS,
  day: 24 * HOUR_MS,
  week: 7 * 24 * HOUR_MS,
};
const EVERY_MS = 30_000;
/** The fullest colour: words on it are still read. */
const FULL_PERCENT = 48;
/** Of a card in a step of hours: the others are in its title. */
const TASKS_SHOWN_MAX = 3;

export function Gpus() {
  const [figure, setFigure] = useChosen('of', 'busy');
  const [span, setSpan] = useChosen('span', 'hour');
  const spanMs = SPAN_MS[span] ?? HOUR_MS;
  // In whole minutes: the question stays the same from look to look.
  const from = useMemo(() => Math.floor((now.value - spanMs) / 60_000) * 60_000, [spanMs]);
  const query = { from, figure: figure === 'memory' ? figure : 'busy' } as const;
  const answer = useCall('gpuMap', { query }, { when: isOfCards, everyMs: EVERY_MS });
  return (
    <div class="page">
      <h1>Gpus</h1>
      <Panel title="All gpus" wide aside={<Command text="weft node list" />}>
        <div class="filters">
          <Choices all={['busy', 'memory']} chosen={query.figure} onChoose={setFigure} />
          <Choices all={Object.keys(SPAN_MS)} chosen={span} onChoose={setSpan} />
        </div>
        <Loaded answer={answer}>{(map) => <Shown map={map} figure={query.figure} />}</Loaded>
      </Panel>
    </div>
  );
}

const isOfCards = ({ kind }: { readonly kind: string }): boolean => /^(part|node)_/.test(kind);

interface ChoicesOf {
  readonly all: readonly string[];
  readonly chosen: string;
  readonly onChoose: (value: string) => void;
}

function Choices({ all, chosen, onChoose }: ChoicesOf) {
  return (
    <p class="choices">
      {all.map((word) => (
        <button
          key={word}
          type="button"
          aria-pressed={word === chosen}
          onClick={() => onChoose(word)}
        >
          {word}
        </button>
      ))}
    </p>
  );
}

function Shown({ map, figure }: { map: GpuMap; figure: 'busy' | 'memory' }) {
  const [step, setStep] = useState<number | null>(null);
  if (map.nodes.length === 0) return <Empty>No node tells of gpus.</Empty>;
  const last = (map.nodes[0]?.cards[0]?.percents.length ?? 1) - 1;
  const at = Math.min(step ?? last, last);
  const isNow = at === last;
  const time = isNow ? 'now' : instantWords(map.from + at * map.stepMs, now.value);
  const what = figure === 'busy' ? 'share of the time in which it works' : 'share of its memory';
  return (
    <>
      <label class="when">
        At{' '}
        <input
          type="range"
          min={0}
          max={last}
          value={at}
          aria-valuetext={time}
          onInput={({ currentTarget: { valueAsNumber } }) =>
            setStep(valueAsNumber === last ? null : valueAsNumber)
          }
        />{' '}
        <output>{time}</output> <span class="spare faint">{what}, on average</span>
      </label>
      <table class="cards">
        <tbody>
          {map.nodes.map(({ name, cards }) => (
            <tr key={name}>
              <th scope="row">
                <a href={hrefOf(['nodes', name])}>{name}</a>
              </th>
              <td>
                <ul>
                  {cards.map((card) => (
                    <Cell
                      key={card.label}
                      card={card}
                      percent={card.percents[at]}
                      step={isNow ? null : stepOf(map, at)}
                    />
                  ))}
                </ul>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {!map.isWhole && <p class="notice">There are more nodes with gpus than are shown here.</p>}
    </>
  );
}

function stepOf({ from, stepMs }: GpuMap, at: number): Span {
  return { from: from + at * stepMs, until: from + (at + 1) * stepMs };
}

/** `step`: an earlier one; null: now. */
function Cell({ card, percent, step }: { card: Card; percent: Percent; step: Span | null }) {
  const { label, type, why } = card;
  const isNow = step === null;
  const { tasks, users } = isNow ? card : heldIn(card.past, step);
  const share = percent == null ? '–' : `${percent} %`;
  const state = ownClock(cardWords({ ...card, state: card.state as 'free' }), now.value);
  const owners = users.length > 0 ? ` of ${users.join(', ')}` : '';
  const held = tasks.length > 0 ? `${tasks.join(', ')}${owners}` : '';
  const words = [`gpu ${label}, ${type}: ${share}`, ...(isNow ? [state] : []), held]
    .filter((word) => word !== '')
    .join(', ');
  const background =
    percent == null
      ? undefined
      : `color-mix(in srgb, var(--run) ${Math.round((percent * FULL_PERCENT) / 100)}%, var(--panel))`;
  const out = isNow && why !== null ? 'out' : '';
  return (
    <li class={out} style={{ background }} title={words}>
      <span>
        {label} <span class="type">{type}</span>
      </span>
      <strong>{share}</strong>
      {(isNow || tasks.length > 0) && (
        <span class="who">
          {tasks.slice(0, TASKS_SHOWN_MAX).map((task) => (
            <a key={task} href={hrefOf(['jobs', jobOfTask(task)])}>
              {users.length === 1 ? users[0] : task}
            </a>
          ))}
          {tasks.length === 0 && card.state.replace('_', ' ')}
        </span>
      )}
    </li>
  );
}
