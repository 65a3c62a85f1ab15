// What the wing adds to the web page: curves of a node and of a job.

import '../api/paths.ts';
import { useMemo, useState } from 'preact/hooks';
import type { ReplyOf } from '../../../kernel/api/routes.ts';
import { now } from '../../../kernel/page/data/clock.ts';
import { useCall } from '../../../kernel/page/data/query.ts';
import type { PagePart } from '../../../kernel/page/part.ts';
import { Empty, Loaded, Panel } from '../../../kernel/page/parts/basic.tsx';
import { Curves } from '../../../kernel/page/parts/curves.tsx';
import { sizeWords } from '../../../kernel/page/pure/words.ts';
import { Gpus } from './gpus.tsx';
import { Used } from './used.tsx';

export const samplesPage: PagePart = {
  pages: [{ path: 'gpus', title: 'Gpus', show: () => <Gpus /> }],
  OfNode: NodeCurves,
  OfJob: Used,
};

const HOUR_MS = 3_600_000;
const SPANS = [
  ['hour', HOUR_MS],
  ['day', 24 * HOUR_MS],
  ['month', 30 * 24 * HOUR_MS],
] as const;
const EVERY_MS = 30_000;
const GPUS_SHOWN_MAX = 16;

function NodeCurves({ name }: { readonly name: string }) {
  const [spanMs, setSpan] = useState<number>(HOUR_MS);
  // Asked for in whole minutes: the question stays the same from look to look.
  const from = useMemo(() => Math.floor((now.value - spanMs) / 60_000) * 60_000, [spanMs]);
  const options = { params: { name }, query: { from } };
  const answer = useCall('nodeSamples', options, { when: () => false, everyMs: EVERY_MS });
  return (
    <Panel title="Over time" wide>
      <p class="choices">
        {SPANS.map(([word, ms]) => (
          <button key={word} type="button" aria-pressed={ms === spanMs} onClick={() => setSpan(ms)}>
            {word}
          </button>
        ))}
      </p>
      <Loaded answer={answer}>{(value) => <Shown samples={value} />}</Loaded>
    </Panel>
  );
}

type Points = readonly (number | null)[];

function isKnown(points: Points): boolean {
  return points.some((point) => point !== null);
}

interface FlowParts {
  readonly label: string;
  readonly times: readonly number[];
  readonly pairs: readonly [first: readonly [string, Points], second: readonly [string, Points]];
}

/** Nothing of a machine that does not say. */
function Flow({ label, times, pairs }: FlowParts) {
  const [[first, to], [second, away]] = pairs;
  if (!isKnown(to)) return null;
  return (
    <Curves
      label={label}
      times={times}
      curves={[
        { name: first, tone: 'run', values: to },
        { name: second, tone: 'wait', values: away },
      ]}
      format={sizeWords}
    />
  );
}

interface GpuParts {
  readonly gpu: ReplyOf<'nodeSamples'>['gpus'][number];
  readonly times: readonly number[];
}

function GpuCurves({ gpu, times }: GpuParts) {
  const { number, busyPercent, watts, celsius, slowedPercent, correctedErrors } = gpu;
  const work = [
    { name: `gpu ${number}, % of time`, tone: 'good', values: busyPercent.mean, isArea: true },
    { name: 'slowed by heat, power or hardware', tone: 'bad', values: slowedPercent },
  ] as const;
  const isSlow = slowedPercent.some((point) => (point ?? 0) > 0);
  return (
    <>
      <Curves
        label={`Work of gpu ${number} over time`}
        times={times}
        curves={isSlow ? work : work.slice(0, 1)}
      />
      {(isKnown(watts) || isKnown(celsius)) && (
        <Curves
          label={`Power and temperature of gpu ${number} over time`}
          times={times}
          curves={[
            { name: `gpu ${number}, watts`, tone: 'wait', values: watts },
            { name: 'degrees Celsius', tone: 'bad', values: celsius },
          ]}
        />
      )}
      {isKnown(correctedErrors) && (
        <Curves
          label={`Errors of the memory of gpu ${number} over time`}
          times={times}
          curves={[
            { name: `gpu ${number}, corrected errors`, tone: 'bad', values: correctedErrors },
          ]}
        />
      )}
    </>
  );
}

function Shown({ samples }: { readonly samples: ReplyOf<'nodeSamples'> }) {
  const { from, stepMs, cpu, memory, flow, gpus } = samples;
  if (!cpu.mean.some((point) => point !== null)) return <Empty>Nobody has looked yet.</Empty>;
  const times = cpu.mean.map((_, at) => from + at * stepMs);
  const cpus = cpu.mean.map((point) => (point === null ? null : point / 1000));
  return (
    <>
      <Curves
        label="Cpus in use over time"
        times={times}
        curves={[{ name: 'cpus in use', tone: 'run', values: cpus, isArea: true }]}
      />
      <Curves
        label="Memory in use over time"
        times={times}
        curves={[{ name: 'memory in use', tone: 'wait', values: memory.mean, isArea: true }]}
        format={sizeWords}
        words="of the whole machine, whoever uses them"
      />
      <Flow
        label="Disks over time"
        times={times}
        pairs={[
          ['read, bytes a second', flow.read.mean],
          ['written', flow.written.mean],
        ]}
      />
      <Flow
        label="Networks over time"
        times={times}
        pairs={[
          ['received, bytes a second', flow.received.mean],
          ['sent', flow.sent.mean],
        ]}
      />
      {gpus.slice(0, GPUS_SHOWN_MAX).map((gpu) => (
        <GpuCurves key={gpu.number} gpu={gpu} times={times} />
      ))}
    </>
  );
}
