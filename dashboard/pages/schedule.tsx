// Nodes over time: what ran, what runs, what is planned, and what is set aside. Drawn on a canvas;
// the same is in a table below, for who does not see it.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ReplyOf } from '../../src/api/routes.ts';
import { now } from '../data/clock.ts';
import { useCall } from '../data/query.ts';
import { go, hrefOf } from '../data/route.ts';
import { Command, Empty, Loaded, State, Time } from '../parts/basic.tsx';
import { type Aside, AXIS_HEIGHT, drawSchedule, LABEL_WIDTH } from '../parts/schedule-canvas.ts';
import {
  barAt,
  type Layout,
  layOut,
  type Placed,
  pan,
  type Sight,
  zoom,
} from '../pure/schedule-layout.ts';
import { instantWords, plainWord, some, spanWords } from '../pure/words.ts';

const HOUR_MS = 3_600_000;
const EVERY_MS = 5000;
const ROWS_SPOKEN = 100;
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
  const { id, name, owner, word, kind, from, until } = bar;
  const end = until === null ? 'no limit' : instantWords(until, now.value);
  return (
    <>
      {node}: <strong>{id}</strong> <bdi>{name}</bdi> of {owner || 'a user'},{' '}
      {kind === 'planned' ? 'planned' : plainWord(word)}, {instantWords(from, now.value)} – {end}
      {until !== null && ` (${spanWords(until - from)})`}
    </>
  );
}

interface DrawnParts {
  readonly layout: Layout;
  readonly asides: readonly Aside[];
  readonly sight: Sight;
  readonly onSight: (sight: Sight) => void;
  readonly hovered: Placed | null;
  readonly onHover: (placed: Placed | null) => void;
}

function Drawn({ layout, asides, sight, onSight, hovered, onHover }: DrawnParts) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [top, setTop] = useState(0);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const rowHeight = Math.max(14, Math.min(30, size.height / Math.max(1, layout.nodes.length)));
  useEffect(() => {
    const element = box.current as HTMLDivElement;
    const watch = new ResizeObserver(() => {
      setSize({ width: element.clientWidth, height: element.clientHeight });
    });
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      // The page may have gone between the frame's order and its turn.
      if (size.width === 0 || canvas.current === null) return;
      drawSchedule(canvas.current, {
        ...{ layout, asides, sight, hovered, top, rowHeight, now: now.value },
        ...size,
      });
    });
    return () => cancelAnimationFrame(frame);
  }, [layout, asides, sight, hovered, top, size, now.value]);
  const placeOf = (event: MouseEvent): Placed | null => {
    const x = event.offsetX - LABEL_WIDTH;
    const y = event.offsetY - AXIS_HEIGHT + top;
    if (x < 0 || event.offsetY < AXIS_HEIGHT) return null;
    const row = Math.floor(y / rowHeight);
    const time = sight.from + ((sight.until - sight.from) * x) / (size.width - LABEL_WIDTH);
    return barAt(layout, row, { time, share: (y - row * rowHeight) / rowHeight });
  };
  const drag = useRef<{ x: number; sight: Sight; moved: boolean } | null>(null);
  const move = (event: PointerEvent): void => {
    const from = drag.current;
    if (from === null) return onHover(placeOf(event));
    const by = (from.x - event.offsetX) / (size.width - LABEL_WIDTH);
    from.moved ||= Math.abs(from.x - event.offsetX) > 4;
    onSight(pan(from.sight, by));
  };
  const end = (event: PointerEvent): void => {
    const { moved } = drag.current ?? { moved: true };
    drag.current = null;
    const placed = moved ? null : placeOf(event);
    if (placed !== null) go(['jobs', placed.bar.jobId]);
  };
  const wheel = (event: WheelEvent): void => {
    if (!event.ctrlKey && !event.metaKey && event.deltaX === 0) return;
    event.preventDefault();
    if (event.deltaX !== 0) return onSight(pan(sight, event.deltaX / 1000));
    const share = (event.offsetX - LABEL_WIDTH) / (size.width - LABEL_WIDTH);
    onSight(zoom(sight, event.deltaY > 0 ? 1.2 : 1 / 1.2, Math.max(0, share)));
  };
  const key = (event: KeyboardEvent): void => {
    const next = {
      ...{ ArrowLeft: () => pan(sight, -0.1), ArrowRight: () => pan(sight, 0.1) },
      ...{ '+': () => zoom(sight, 0.7, 0.5), '-': () => zoom(sight, 1.4, 0.5) },
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    onSight(next());
  };
  const label = `Schedule of ${some(layout.nodes.length, 'node')}; arrows pan, plus and minus zoom; the table below says the same`;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keyboard zooms and pans what is drawn
    <div
      class="gantt"
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys move it
      tabIndex={0}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      onKeyDown={key}
    >
      <div style={{ height: `${layout.nodes.length * rowHeight + AXIS_HEIGHT}px` }}>
        <canvas
          ref={canvas}
          role="img"
          aria-label={label}
          onPointerDown={(event) => {
            drag.current = { x: event.offsetX, sight, moved: false };
          }}
          onPointerMove={move}
          onPointerUp={end}
          onPointerLeave={() => {
            drag.current = null;
            onHover(null);
          }}
          onWheel={wheel}
        />
      </div>
    </div>
  );
}

/** What runs and comes next, as a table. */
function Spoken({ bars }: { bars: ReplyOf<'schedule'>['bars'] }) {
  const next = bars
    .filter(({ kind }) => kind !== 'past')
    .sort((one, other) => one.from - other.from)
    .slice(0, ROWS_SPOKEN);
  return (
    <details>
      <summary>The same as a table: {some(next.length, 'task')} that run or come next</summary>
      <table class="plain">
        <thead>
          <tr>
            <th>Task</th>
            <th>State</th>
            <th>From</th>
            <th>Until at the latest</th>
            <th class="spare">Nodes</th>
          </tr>
        </thead>
        <tbody>
          {next.map((bar) => (
            <tr key={`${bar.id} ${bar.from}`}>
              <td>
                <a href={hrefOf(['jobs', bar.jobId])}>{bar.id}</a> <bdi>{bar.name}</bdi>
              </td>
              <td>
                <State word={bar.kind === 'planned' ? 'pending' : bar.word} />
              </td>
              <td>
                <Time at={bar.from} />
              </td>
              <td>
                <Time at={bar.until} none="no limit" />
              </td>
              <td class="spare">{bar.nodes.join(', ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
