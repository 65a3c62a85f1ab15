// The schedule as it is drawn, and what pointer and keys do on it.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { now } from '../../data/clock.ts';
import { go } from '../../data/route.ts';
import {
  type Aside,
  AXIS_HEIGHT,
  drawSchedule,
  labelWidthOf,
} from '../../parts/schedule-canvas.ts';
import type { BarColours } from '../../pure/bar-colours.ts';
import {
  barAt,
  type Layout,
  type Placed,
  pan,
  rowHeightOf,
  type Sight,
  zoom,
} from '../../pure/schedule-layout.ts';
import { some } from '../../pure/words.ts';

interface DrawnParts {
  readonly layout: Layout;
  readonly colours: BarColours;
  readonly isTall: boolean;
  readonly asides: readonly Aside[];
  readonly sight: Sight;
  readonly onSight: (sight: Sight) => void;
  readonly hovered: Placed | null;
  readonly onHover: (placed: Placed | null) => void;
}

export function Drawn(parts: DrawnParts) {
  const { layout, colours, isTall, asides, sight, onSight, hovered, onHover } = parts;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [top, setTop] = useState(0);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const labelWidth = useMemo(() => labelWidthOf(layout.nodes), [layout.nodes]);
  const rowHeight = rowHeightOf(layout.nodes, size.height - AXIS_HEIGHT, isTall);
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
        layout,
        colours,
        asides,
        sight,
        hovered,
        top,
        rowHeight,
        labelWidth,
        now: now.value,
        ...size,
      });
    });
    return () => cancelAnimationFrame(frame);
  }, [layout, colours, asides, sight, hovered, top, size, rowHeight, now.value]);
  const placeOf = (event: MouseEvent): Placed | null => {
    const x = event.offsetX - labelWidth;
    const y = event.offsetY - AXIS_HEIGHT + top;
    if (x < 0 || event.offsetY < AXIS_HEIGHT) return null;
    const row = Math.floor(y / rowHeight);
    const time = sight.from + ((sight.until - sight.from) * x) / (size.width - labelWidth);
    return barAt(layout, row, { time, share: (y - row * rowHeight) / rowHeight });
  };
  const drag = useRef<{ x: number; sight: Sight; moved: boolean } | null>(null);
  const move = (event: PointerEvent): void => {
    const from = drag.current;
    if (from === null) return onHover(placeOf(event));
    const by = (from.x - event.offsetX) / (size.width - labelWidth);
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
    const share = (event.offsetX - labelWidth) / (size.width - labelWidth);
    onSight(zoom(sight, event.deltaY > 0 ? 1.2 : 1 / 1.2, Math.max(0, share)));
  };
  const key = (event: KeyboardEvent): void => {
    const next = {
      ArrowLeft: () => pan(sight, -0.1),
      ArrowRight: () => pan(sight, 0.1),
      '+': () => zoom(sight, 0.7, 0.5),
      '-': () => zoom(sight, 1.4, 0.5),
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
