// Nodes over time: what ran, what runs, what is planned, and what is set aside. Drawn on a canvas;
// the same is in a table below, for who does not see it.

import { useEffect, useRef, useState } from 'preact/hooks';
import { headNow } from '../../../api/head-time.ts';
import { useCall } from '../../data/query.ts';
import { changeQuery, place, useChosen } from '../../data/route.ts';
import { Command, Empty, Loaded } from '../../parts/basic.tsx';
import { COLOURINGS, colouringOf } from '../../pure/bar-colours.ts';
import { pan, type Sight, sightOf, zoom } from '../../pure/schedule-layout.ts';
import { Plan } from './plan.tsx';

const HOUR_MS = 3_600_000;
const EVERY_MS = 5000;
/** After the last move. */
const SAY_MS = 300;
const SPANS: readonly (readonly [string, number])[] = [
  ['15 minutes', HOUR_MS / 4],
  ['1 hour', HOUR_MS],
  ['6 hours', 6 * HOUR_MS],
  ['1 day', 24 * HOUR_MS],
  ['1 week', 168 * HOUR_MS],
];

export function Schedule() {
  const [sight, setSight] = useSight();
  const [by, setBy] = useChosen('by', 'state');
  const [rows, setRows] = useChosen('rows');
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
        <div class="filters">
          <label>
            Colours by
            <select value={colouringOf(by)} onChange={(event) => setBy(event.currentTarget.value)}>
              {COLOURINGS.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
          <label class="check">
            <input
              type="checkbox"
              checked={rows === 'tall'}
              onChange={(event) => setRows(event.currentTarget.checked ? 'tall' : '')}
            />
            tall rows
          </label>
        </div>
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
                  by={colouringOf(by)}
                  isTall={rows === 'tall'}
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

/** From the address: a reload and the way back show the same. */
function useSight(): [Sight, (sight: Sight) => void] {
  const { query } = place.value;
  const [from, until] = [query.get('from') ?? '', query.get('until') ?? ''];
  const [sight, setSight] = useState<Sight>(() => around(headNow(), HOUR_MS));
  const written = useRef('');
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    const wanted = sightOf(from, until);
    if (wanted !== null && written.current !== `${from} ${until}`) setSight(wanted);
  }, [from, until]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const change = (next: Sight): void => {
    setSight(next);
    clearTimeout(timer.current);
    // A drag has many moves, and each change of the address draws the frame of the page.
    timer.current = setTimeout(() => {
      const said = { from: String(Math.round(next.from)), until: String(Math.round(next.until)) };
      written.current = `${said.from} ${said.until}`;
      changeQuery(said);
    }, SAY_MS);
  };
  return [sight, change];
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
          onClick={() => onSight(around(headNow(), ms))}
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
