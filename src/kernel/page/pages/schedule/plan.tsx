// The plan as it is drawn, with what its colours say and what is under the pointer.

import { useMemo, useState } from 'preact/hooks';
import type { ReplyOf } from '../../../api/routes.ts';
import { now } from '../../data/clock.ts';
import { hrefOf } from '../../data/route.ts';
import { State, Time } from '../../parts/basic.tsx';
import type { Aside } from '../../parts/schedule-canvas.ts';
import { type BarColours, barColours, type Colouring } from '../../pure/bar-colours.ts';
import { layOut, type Placed, type Sight } from '../../pure/schedule-layout.ts';
import { instantWords, plainWord, some, spanWords } from '../../pure/words.ts';
import { Drawn } from './drawn.tsx';

/** Users with a colour in the legend. */
const USERS_NAMED = 12;

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

export function Plan({
  plan,
  nodes,
  reservations,
  ...seen
}: {
  plan: ReplyOf<'schedule'>;
  nodes: Nodes;
  reservations: Reservations;
  by: Colouring;
  isTall: boolean;
  sight: Sight;
  onSight: (sight: Sight) => void;
}) {
  const { by, isTall, sight, onSight } = seen;
  const layout = useMemo(() => {
    const byName = new Intl.Collator('en', { numeric: true }).compare;
    const rows = nodes
      .map(({ name, total }) => ({ name, cpuCount: total.cpuCount }))
      .sort((one, other) => byName(one.name, other.name));
    const horizon = plan.bars.reduce((most, { until }) => Math.max(most, until ?? 0), plan.at);
    return layOut(plan.bars, rows, horizon + 5 * 60_000);
  }, [plan, nodes]);
  const colours = useMemo(() => barColours(plan.bars, by), [plan, by]);
  const asides = useMemo(() => asidesOf(nodes, reservations), [nodes, reservations]);
  const [hovered, setHovered] = useState<Placed | null>(null);
  const planned = plan.bars.filter(({ kind }) => kind === 'planned').length;
  return (
    <>
      <p class="under">
        <Legend by={by} colours={colours} />
        <span class="faint">
          {some(planned, 'task')} planned{plan.isWhole ? '' : '; more wait than a plan looks at'}
          {!plan.isRunningWhole && '; more run than are shown'}
          {!plan.isPastWhole && '; of what has ended, only the newest is shown'}
        </span>
      </p>
      <Drawn
        {...{ layout, colours, isTall, asides, sight, onSight, hovered }}
        onHover={setHovered}
      />
      <p class="hover" role="status">
        {hovered === null ? (
          <span class="faint">
            Scroll to move through the nodes, Ctrl and scroll to zoom, drag to pan; a click opens
            the job.
          </span>
        ) : (
          <BarWords placed={hovered} node={layout.nodes[hovered.row]?.name ?? ''} />
        )}
      </p>
      <Spoken bars={plan.bars} />
    </>
  );
}

/** What colours and looks of bars say. */
function Legend({ by, colours }: { by: Colouring; colours: BarColours }) {
  const key = (look: string, words: string) => (
    <span class={by === 'state' ? 'key' : 'key plain'} key={words}>
      <i class={look} /> {words}
    </span>
  );
  if (by === 'state') {
    return (
      <>
        {key('good over', 'ended well')} {key('bad over', 'ended badly')} {key('run', 'runs')}{' '}
        {key('wait coming', 'planned')} {key('stop over', 'set aside')}
      </>
    );
  }
  const named = colours.users.slice(0, USERS_NAMED);
  return (
    <>
      {key('over', 'ended')} {key('ill', 'ended badly')} {key('', 'runs')}{' '}
      {key('coming', 'planned')}{' '}
      {named.map(([user, hue]) => (
        <span class="key" key={user}>
          <i class={hue} /> <bdi>{user || 'others'}</bdi>
        </span>
      ))}
      {colours.users.length > named.length && (
        <span class="faint">and {some(colours.users.length - named.length, 'more', 'more')}</span>
      )}
    </>
  );
}

function BarWords({ placed: { bar }, node }: { placed: Placed; node: string }) {
  const { id, name, owner, word, kind, from, until, guess, cpuCount } = bar;
  const planned = guess === undefined ? 'planned' : `planned by a guess from ${guess.site}`;
  const end = until === null ? 'no limit' : instantWords(until, now.value);
  return (
    <>
      {node}: <strong>{id}</strong> <bdi>{name}</bdi> of {owner || 'a user'},{' '}
      {cpuCount !== undefined && `${some(cpuCount, 'cpu')}, `}
      {kind === 'planned' ? planned : plainWord(word)}, {instantWords(from, now.value)} – {end}
      {until !== null && ` (${spanWords(until - from)})`}
    </>
  );
}

/** The schedule as a table, for who does not see it drawn. */
const ROWS_SPOKEN = 100;

/** What runs and comes next, as a table. */
function Spoken({ bars }: { bars: ReplyOf<'schedule'>['bars'] }) {
  // Every move of the pointer draws the page anew.
  const next = useMemo(
    () =>
      bars
        .filter(({ kind }) => kind !== 'past')
        .sort((one, other) => one.from - other.from)
        .slice(0, ROWS_SPOKEN),
    [bars],
  );
  return (
    <details>
      <summary>The same as a table: {some(next.length, 'task')} running or next</summary>
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
