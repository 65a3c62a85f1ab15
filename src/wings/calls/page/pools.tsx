// Pools of workers: how many there are, how many calls wait, run and are done, how fast, and how long
// each takes.

import { useEffect, useRef, useState } from 'preact/hooks';
import { headNow } from '../../../kernel/api/head-time.ts';
import { call } from '../../../kernel/page/data/client.ts';
import { useCall } from '../../../kernel/page/data/query.ts';
import { hrefOf } from '../../../kernel/page/data/route.ts';
import { isOperator, me } from '../../../kernel/page/data/session.ts';
import { type Action, Actions } from '../../../kernel/page/parts/actions.tsx';
import { Command, Empty, Loaded, Panel, Span, State } from '../../../kernel/page/parts/basic.tsx';
import { Curves } from '../../../kernel/page/parts/curves.tsx';
import { askAbout } from '../../../kernel/page/pure/questions.ts';
import { type Counted, rateBetween, rateWords } from '../../../kernel/page/pure/rate.ts';
import {
  countWords,
  latencyWords,
  ownClock,
  some,
  spanWords,
} from '../../../kernel/page/pure/words.ts';
import type { CallsView, PoolView } from '../api/pools.ts';
import '../api/paths.ts';

/** Calls are in no event. */
const EVERY_MS = 2000;
/** Points of the rate that are kept while the page is open. */
const POINTS = 150;

interface RatePoint {
  readonly at: number;
  readonly rate: number;
  readonly waiting: number;
}

export function Pools() {
  const pools = useCall('listPools', {}, { everyMs: EVERY_MS, when: () => false });
  return (
    <div class="page">
      <div class="title">
        <h1>Pools</h1>
        <Command text="weft pool list" />
      </div>
      <Loaded answer={pools}>
        {({ pools: all }) =>
          all.length === 0 ? (
            <Empty>
              No pool is there. A program starts one with <code>cluster.pool()</code>, or{' '}
              <Command text="weft pool start --max 4" />
            </Empty>
          ) : (
            <div class="panels">
              {all.map((pool) => (
                <Pool key={pool.id} pool={pool} />
              ))}
            </div>
          )
        }
      </Loaded>
    </div>
  );
}

function Pool({ pool }: { pool: PoolView }) {
  const { calls, workers } = pool;
  const isOwn = me.value?.name === pool.owner || isOperator();
  const working = Object.entries(workers).filter(([, count]) => count > 0);
  return (
    <Panel
      title={`Pool ${pool.id}${pool.name === null ? '' : ` ${pool.name}`}`}
      aside={isOwn ? <Actions actions={[stopOf(pool)]} /> : undefined}
    >
      <dl>
        <div>
          <dt>Owner</dt>
          <dd>
            {pool.owner}, job <a href={hrefOf(['jobs', pool.id])}>{pool.id}</a>, for{' '}
            <Span from={pool.submittedAt} until={pool.endedAt} />
          </dd>
        </div>
        <div>
          <dt>Workers</dt>
          <dd>
            {working.map(([word, count]) => (
              <span key={word} class="tally">
                <State word={word} /> {count}
              </span>
            ))}
            {working.length === 0 && 'none '}of {pool.target} wanted, {pool.min} to {pool.max}
            {pool.losses > 0 && `; ${some(pool.losses, 'worker')} lost`}
          </dd>
        </div>
        {pool.reason && (
          <div>
            <dt>Why no more</dt>
            <dd>{ownClock(pool.reason.words, headNow())}</dd>
          </div>
        )}
        {calls && (
          <div>
            <dt>Calls</dt>
            <dd>
              {countWords(calls.running)} running, {countWords(calls.waiting)} waiting,{' '}
              {countWords(calls.done)} done
              {calls.failed > 0 && `, ${countWords(calls.failed)} of them failed`}, of{' '}
              {some(calls.clients, 'program')}
            </dd>
          </div>
        )}
      </dl>
      {calls && <Rate calls={calls} />}
      {isOwn && calls !== null && <Speed id={pool.id} />}
    </Panel>
  );
}

function stopOf({ id, name, owner }: PoolView): Action {
  return {
    ...askAbout('Stop', 'pool', name === null ? String(id) : `${id} ${name}`, owner),
    label: 'Stop',
    command: `weft pool stop ${id}`,
    isBad: true,
    run: async () => {
      await call('stopPool', { params: { id: String(id) } });
      return `Pool ${id} is stopped.`;
    },
    warning: 'Its workers end; calls that are open fail.',
  };
}

/** Calls a second and those that wait, since the page was opened: a point for each answer of the head. */
function Rate({ calls }: { calls: NonNullable<PoolView['calls']> }) {
  const last = useRef<Counted | null>(null);
  const [points, setPoints] = useState<readonly RatePoint[]>([]);
  useEffect(() => {
    const counted = { at: headNow(), done: calls.done };
    const rate = rateBetween(last.current, counted);
    last.current = counted;
    if (rate === null) return;
    const point = { at: counted.at, rate, waiting: calls.waiting };
    setPoints((all) => [...all, point].slice(-POINTS));
  }, [calls]);
  if (points.length < 2) return <p class="faint">The rate is drawn while the page is open.</p>;
  return (
    <Curves
      label="Calls a second and calls that wait"
      times={points.map(({ at }) => at)}
      curves={[
        {
          name: 'calls a second',
          tone: 'run',
          values: points.map(({ rate }) => rate),
          isArea: true,
        },
        { name: 'calls that wait', tone: 'wait', values: points.map((point) => point.waiting) },
      ]}
      format={rateWords}
    />
  );
}

/** How long calls take, for all and for each program, and those that run for more than a moment. */
function Speed({ id }: { id: number }) {
  const params = { id: String(id) };
  const { value } = useCall('poolCalls', { params }, { everyMs: EVERY_MS, when: () => false });
  if (value === null) return null;
  const long = value.workers.filter(({ running }) => running !== null);
  return (
    <>
      <p class="faint">
        The last minute; times are from the arrival of a call to its end, with its wait, and to
        within a twentieth.
      </p>
      <table class="plain">
        <thead>
          <tr>
            <th>Program</th>
            <th class="number">Calls a second</th>
            <th class="number">Half take</th>
            <th class="number">99 % take</th>
            <th class="number spare">Waiting</th>
            <th class="number spare">Done</th>
            <th class="number">Failed</th>
          </tr>
        </thead>
        <tbody>
          {value.clients.map((client) => (
            <SpeedRow key={client.session} {...client} name={client.label || client.session} />
          ))}
          <SpeedRow {...value} name="all" />
        </tbody>
      </table>
      {long.length > 0 && (
        <ul class="rows">
          {long.map(({ name, running }) => (
            <li key={name}>
              {name}: call {running?.call}, for {spanWords(running?.forMs ?? 0)}
              {(running?.attempt ?? 1) > 1 && `, try ${running?.attempt}`}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function SpeedRow({
  name,
  speed,
  waiting,
  done,
  failed,
}: Pick<CallsView, 'speed' | 'waiting' | 'done' | 'failed'> & { name: string }) {
  const span = (ms: number | undefined): string =>
    ms === undefined ? '–' : `≤ ${latencyWords(ms)}`;
  return (
    <tr>
      <td>
        <bdi>{name}</bdi>
      </td>
      <td class="number">{speed === null ? '–' : rateWords(speed.perSecond)}</td>
      <td class="number">{span(speed?.p50Ms)}</td>
      <td class="number">{span(speed?.p99Ms)}</td>
      <td class="number spare">{countWords(waiting)}</td>
      <td class="number spare">{countWords(done)}</td>
      <td class="number">{countWords(failed)}</td>
    </tr>
  );
}
