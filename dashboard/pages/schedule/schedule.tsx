// Nodes over time: what ran, what runs, what is planned, and what is set aside. Drawn on a canvas;
// the same is in a table below, for who does not see it.

import { useMemo, useState } from 'preact/hooks';
import type { ReplyOf } from '../../../src/api/routes.ts';
import { now } from '../../data/clock.ts';
import { useCall } from '../../data/query.ts';
import { Command, Empty, Loaded } from '../../parts/basic.tsx';
import type { Aside } from '../../parts/schedule-canvas.ts';
import { layOut, type Placed, pan, type Sight, zoom } from '../../pure/schedule-layout.ts';
import { instantWords, plainWord, some, spanWords } from '../../pure/words.ts';
import { Drawn } from './drawn.tsx';
import { Spoken } from './spoken.tsx';

const HOUR_MS = 3_600_000;
const EVERY_MS = 5000;
const SPANS: readonly (readonly [string, number])[] = [
  ['15 minutes', HOUR_MS / 4],
  ['1 hour', HOUR_MS],
  ['6 hours', 6 * HOUR_MS],
  ['1 day', 24 * HOUR_MS],
  ['1 week', 168 * HOUR_MS],
];

export function Schedule() {
  const [sight, setSight] = useState<Sight>(() => around(Date.now(), HOUR_MS));
  // Asked for by hours, so that panning asks seldom.
  const from = Math.floor(Math.max(0, sight.from - HOUR_MS) / HOUR_MS) * HOUR_MS;
  const schedule = useCall(
    'schedule',
    { query: { from, limit: 5000 } },
    { everyMs: EVERY_MS, togetherMs: 1000 },
  );
  const nodes = useCall('listNodes', {}, { when: ({ kind }) => kind.startsWith('node_') });
  const reservations = useCall('listReservations', {}, { everyMs: 15_000, when: () => false });
  return (
    <div class="page fill">
      <div class="title">
        <h1>Schedule</h1>
        <Choice sight={sight} onSight={setSight} />
      </div>
      <Loaded answer={nodes}>
        {(value) => (
          <Loaded answer={schedule}>
            {(plan) =>
              value.nodes.length === 0 ? (
                <Empty>
                  No node has joined: <Command text="weft token join" />
                </Empty>
              ) : (
                <Plan
                  plan={plan}
                  nodes={value.nodes}
                  reservations={reservations.value?.reservations ?? []}
                  sight={sight}
                  onSight={setSight}
                />
              )
            }
          </Loaded>
        )}
      </Loaded>
    </div>
  );
}

function around(at: number, span: number): Sight {
  return { from: at - span * 0.4, until: at + span * 0.6 };
}

function Choice({ sight, onSight }: { sight: Sight; onSight: (sight: Sight) => void }) {
  const span = sight.until - sight.from;
  return (
    <fieldset class="actions" aria-label="What is shown">
      {SPANS.map(([words, ms]) => (
        <button
          type="button"
          key={words}
          aria-pressed={Math.abs(span - ms) < 1000}
          onClick={() => onSight(around(Date.now(), ms))}
        >
          {words}
        </button>
      ))}
      <button type="button" onClick={() => onSight(pan(sight, -0.3))} aria-label="Earlier">
        ←
      </button>
      <button type="button" onClick={() => onSight(pan(sight, 0.3))} aria-label="Later">
        →
      </button>
      <button type="button" onClick={() => onSight(zoom(sight, 0.6, 0.5))} aria-label="Nearer">
        +
      </button>
      <button type="button" onClick={() => onSight(zoom(sight, 1.6, 0.5))} aria-label="Further">
        −
      </button>
    </fieldset>
  );
}

type Nodes = ReplyOf<'listNodes'>['nodes'];
type Reservations = ReplyOf<'listReservations'>['reservations'];

function asidesOf(nodes: Nodes, reservations: Reservations): Aside[] {
  const slots = reservations.flatMap(({ name, purpose, slots: all }) =>
    all.flatMap(({ from, until, nodes: names }) =>
      names.map((node): Aside => {
        const kind = purpose === 'maintenance' ? 'maintenance' : 'reservation';
        return { kind, node, from, until, words: `${kind} ${name}` };
      }),
    ),
  );
  const paused = nodes.flatMap(({ name, paused: pause, drained }): Aside[] => [
    ...(pause === null
      ? []
      : [
          {
            ...{ kind: 'pause' as const, node: name, from: pause.since },
            until: pause.kind === 'owner' ? pause.until : Number.POSITIVE_INFINITY,
            words: pause.kind === 'owner' ? `paused by ${pause.by}` : `paused: ${pause.why}`,
          },
        ]),
    ...(drained === null
      ? []
      : [
          {
            ...{ kind: 'drained' as const, node: name, from: drained.at },
            ...{ until: Number.POSITIVE_INFINITY, words: `drained: ${drained.reason}` },
          },
        ]),
  ]);
  return [...slots, ...paused];
}

function Plan({
  plan,
  nodes,
  reservations,
  sight,
  onSight,
}: {
  plan: ReplyOf<'schedule'>;
  nodes: Nodes;
  reservations: Reservations;
  sight: Sight;
  onSight: (sight: Sight) => void;
}) {
  const layout = useMemo(() => {
    const byName = new Intl.Collator('en', { numeric: true }).compare;
    const names = nodes.map(({ name }) => name).sort(byName);
    const horizon = plan.bars.reduce((most, { until }) => Math.max(most, until ?? 0), plan.at);
    return layOut(plan.bars, names, horizon + 5 * 60_000);
  }, [plan, nodes]);
  const asides = useMemo(() => asidesOf(nodes, reservations), [nodes, reservations]);
  const [hovered, setHovered] = useState<Placed | null>(null);
  const planned = plan.bars.filter(({ kind }) => kind === 'planned').length;
  return (
    <>
      <p class="under">
        <span class="key">
          <i class="good" /> ended well
        </span>
        <span class="key">
          <i class="bad" /> ended badly
        </span>
        <span class="key">
          <i class="run" /> runs
        </span>
        <span class="key">
          <i class="wait" /> planned
        </span>
        <span class="key">
          <i class="stop" /> set aside
        </span>
        <span class="faint">
          {some(planned, 'task')} planned{plan.isWhole ? '' : '; more wait than a plan looks at'}
          {!plan.isRunningWhole && '; more run than are shown'}
          {!plan.isPastWhole && '; of what has ended, only the newest is shown'}
        </span>
      </p>
      <Drawn {...{ layout, asides, sight, onSight, hovered }} onHover={setHovered} />
      <p class="hover" role="status">
        {hovered === null ? (
          <span class="faint">
            Scroll to move through the nodes, Ctrl and scroll to zoom, drag to pan; a click opens
            the job.
          </span>
        ) : (
          <BarWords placed={hovered} node={layout.nodes[hovered.row] ?? ''} />
        )}
      </p>
      <Spoken bars={plan.bars} />
    </>
  );
}

function BarWords({ placed: { bar }, node }: { placed: Placed; node: string }) {
  const { id, name, owner, word, kind, from, until, guess } = bar;
  const planned = guess === undefined ? 'planned' : `planned by a guess from ${guess.site}`;
  const end = until === null ? 'no limit' : instantWords(until, now.value);
  return (
    <>
      {node}: <strong>{id}</strong> <bdi>{name}</bdi> of {owner || 'a user'},{' '}
      {kind === 'planned' ? planned : plainWord(word)}, {instantWords(from, now.value)} – {end}
      {until !== null && ` (${spanWords(until - from)})`}
    </>
  );
}
