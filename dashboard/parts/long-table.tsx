// A table of any length: only the rows in sight are in the document.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { windowOf } from '../pure/job-rows.ts';

export const ROW_HEIGHT = 29;

export interface Column<Row, Key extends string> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Of a `col`; one without takes what is left. */
  readonly width?: string;
  readonly sort?: Key;
  readonly number?: boolean;
  /** Left out on narrow screens. */
  readonly spare?: boolean;
}

export interface LongTableParts<Row, Key extends string> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row, Key>[];
  readonly idOf: (row: Row) => number | string;
  readonly sorting?: { readonly key: Key; readonly down: boolean };
  readonly onSort?: (key: Key) => void;
  /** Called when the end comes into sight. */
  readonly onEnd?: () => void;
  /** Which rows are chosen; absent: none can be. */
  readonly chosen?: ReadonlySet<number | string>;
  readonly onChoose?: (row: Row | 'all', isChosen: boolean) => void;
}

export function LongTable<Row, Key extends string>(parts: LongTableParts<Row, Key>) {
  const { label, rows, columns, idOf, onEnd, chosen } = parts;
  const box = useRef<HTMLElement>(null);
  const [sight, setSight] = useState({ top: 0, height: 800 });
  useEffect(() => {
    const element = box.current as HTMLElement;
    let frame = 0;
    const look = (): void => {
      frame = 0;
      const { scrollTop: top, clientHeight: height } = element;
      setSight((before) =>
        before.top === top && before.height === height ? before : { top, height },
      );
    };
    const soon = (): void => {
      if (frame === 0) frame = requestAnimationFrame(look);
    };
    element.addEventListener('scroll', soon, { passive: true });
    const watch = new ResizeObserver(soon);
    watch.observe(element);
    look();
    return () => {
      element.removeEventListener('scroll', soon);
      watch.disconnect();
      cancelAnimationFrame(frame);
    };
  }, []);
  const { from, until } = windowOf(rows.length, { ...sight, rowHeight: ROW_HEIGHT });
  useEffect(() => {
    if (until >= rows.length) onEnd?.();
  }, [until, rows.length]);
  const width = columns.length + (chosen === undefined ? 0 : 1);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section class="long" ref={box} tabIndex={0} aria-label={label}>
      <table aria-rowcount={rows.length + 1} style={{ '--row': `${ROW_HEIGHT}px` }}>
        <Head {...parts} />
        <tbody>
          <Gap rows={from} width={width} />
          {rows.slice(from, until).map((row, at) => {
            const id = idOf(row);
            const isChosen = chosen?.has(id) === true;
            return (
              <tr key={id} aria-rowindex={from + at + 2} class={isChosen ? 'chosen' : ''}>
                {chosen && <Choice {...parts} row={row} isChosen={isChosen} />}
                {columns.map((column) => (
                  <td key={column.title} class={classOf(column)}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
          <Gap rows={rows.length - until} width={width} />
        </tbody>
      </table>
    </section>
  );
}

function Head<Row, Key extends string>(parts: LongTableParts<Row, Key>) {
  const { columns, sorting, onSort, chosen, onChoose, rows } = parts;
  return (
    <>
      <colgroup>
        {chosen && <col style={{ width: '30px' }} />}
        {columns.map(({ title, width, spare }) => (
          <col key={title} class={spare === true ? 'spare' : ''} style={width ? { width } : {}} />
        ))}
      </colgroup>
      <thead>
        <tr aria-rowindex={1}>
          {chosen && (
            <th>
              <input
                type="checkbox"
                aria-label="Choose all rows"
                checked={chosen.size > 0 && chosen.size >= rows.length}
                onChange={(event) => onChoose?.('all', event.currentTarget.checked)}
              />
            </th>
          )}
          {columns.map((column) => {
            const { title, sort } = column;
            const isSorted = sort !== undefined && sorting?.key === sort;
            const order = sorting?.down === true ? 'descending' : 'ascending';
            return (
              <th key={title} class={classOf(column)} aria-sort={isSorted ? order : undefined}>
                {sort === undefined || onSort === undefined ? (
                  title
                ) : (
                  <button type="button" onClick={() => onSort(sort)}>
                    {title}
                    <span aria-hidden="true">{isSorted ? (sorting?.down ? ' ↓' : ' ↑') : ''}</span>
                  </button>
                )}
              </th>
            );
          })}
        </tr>
      </thead>
    </>
  );
}

function Choice<Row, Key extends string>({
  idOf,
  onChoose,
  row,
  isChosen,
}: LongTableParts<Row, Key> & { row: Row; isChosen: boolean }) {
  return (
    <td class="choice">
      <input
        type="checkbox"
        aria-label={`Choose ${idOf(row)}`}
        checked={isChosen}
        onChange={(event) => onChoose?.(row, event.currentTarget.checked)}
      />
    </td>
  );
}

/** Stands for rows out of sight. */
function Gap({ rows, width }: { rows: number; width: number }) {
  if (rows <= 0) return null;
  return (
    <tr class="gap">
      <td colSpan={width} style={{ height: `${rows * ROW_HEIGHT}px` }} />
    </tr>
  );
}

function classOf<Row, Key extends string>({ number, spare }: Column<Row, Key>): string {
  return [number === true ? 'number' : '', spare === true ? 'spare' : ''].filter(Boolean).join(' ');
}
