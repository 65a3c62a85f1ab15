// Curves over time, drawn by uplot: read by eye, and in words for who does not see them.

import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { headNow } from '../../api/head-time.ts';
import type { Tone } from '../pure/state.ts';
import { axisWords, countWords } from '../pure/words.ts';
import { colours } from './colours.ts';

export interface Curve {
  readonly name: string;
  readonly tone: Tone;
  /** Null when nobody knows. */
  readonly values: readonly (number | null)[];
  /** Filled down to nothing. */
  readonly isArea?: boolean;
}

interface Parts {
  readonly label: string;
  /** Ms since 1970. */
  readonly times: readonly number[];
  readonly curves: readonly Curve[];
  readonly words?: string;
  readonly format?: (value: number) => string;
}

const HEIGHT = 170;

export function Curves({ label, times, curves, words, format = countWords }: Parts) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current as HTMLDivElement;
    let plot: uPlot | null = null;
    const draw = (): void => {
      plot?.destroy();
      const width = element.clientWidth;
      if (width === 0) return;
      const data = [times.map((at) => at / 1000), ...curves.map(({ values }) => [...values])];
      plot = new uPlot(optionsOf(curves, width, format), data as uPlot.AlignedData, element);
    };
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const watch = new ResizeObserver(draw);
    watch.observe(element);
    scheme.addEventListener('change', draw);
    return () => {
      watch.disconnect();
      scheme.removeEventListener('change', draw);
      plot?.destroy();
    };
  }, [times, curves]);
  const last = curves.map(({ name, values }) => `${name}: ${format(values.at(-1) ?? 0)} now`);
  return (
    <figure>
      <div class="curves" ref={box} role="img" aria-label={`${label}. ${last.join(', ')}.`} />
      <figcaption class="faint">
        {curves.map(({ name, tone }) => (
          <span key={name} class="key">
            <i class={tone} /> {name}
          </span>
        ))}{' '}
        {words}
      </figcaption>
    </figure>
  );
}

function optionsOf(
  curves: readonly Curve[],
  width: number,
  format: (value: number) => string,
): uPlot.Options {
  const paint = colours();
  const axis = {
    stroke: paint.faint,
    grid: { stroke: paint.line, width: 1 },
    ticks: { stroke: paint.line, width: 1 },
    font: '11px system-ui, sans-serif',
  };
  const now = headNow();
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: { y: { range: (_, __, max) => [0, Math.max(1, max * 1.08)] } },
    axes: [
      {
        ...axis,
        values: (_, all) => all.map((at) => axisWords(at * 1000, now)),
        space: 70,
      },
      {
        ...axis,
        size: 52,
        values: (_, all) => all.map((value) => (Number.isInteger(value) ? format(value) : '')),
      },
    ],
    series: [
      {},
      ...curves.map(({ name, tone, isArea }) => ({
        label: name,
        stroke: paint[tone],
        width: 1.5,
        points: { show: false },
        paths: (uPlot.paths.stepped as NonNullable<typeof uPlot.paths.stepped>)({ align: 1 }),
        ...(isArea === true ? { fill: `color-mix(in srgb, ${paint[tone]} 22%, transparent)` } : {}),
      })),
    ],
  };
}
