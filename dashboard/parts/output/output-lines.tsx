// Lines of output, narrowed down by a search, at the end of which one stays while more comes.

import { useEffect, useMemo, useRef } from 'preact/hooks';
import { type LogLine, plainText } from '../../pure/log-text.ts';
import { some } from '../../pure/words.ts';
import { Problem } from '../basic.tsx';
import { LogLines } from './log-lines.tsx';
import type { Output } from './use-output.ts';

/** `empty`: what is said when there is no line. */
export function OutputLines({
  output,
  search,
  empty,
}: {
  output: Output;
  search: string;
  empty: string;
}) {
  const shown = useMemo(() => found(output, search), [output, search]);
  return (
    <>
      <Problem error={output.error} />
      {output.skipped > 0 && (
        <p class="faint">{some(output.skipped, 'byte')} before this; the download has all.</p>
      )}
      <Scrolled lines={shown} empty={search === '' ? empty : 'No line has these words.'} />
    </>
  );
}

function found({ lines, rest }: Output, search: string): readonly LogLine[] {
  const all = rest === null ? lines : [...lines, rest];
  if (search === '') return all;
  const wanted = search.toLowerCase();
  return all.filter((line) => plainText(line).toLowerCase().includes(wanted));
}

/** Stays at the end while the reader is there. */
function Scrolled({ lines, empty }: { lines: readonly LogLine[]; empty: string }) {
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const log = box.current?.querySelector('.log');
    if (log && isAtEnd.current) log.scrollTop = log.scrollHeight;
  }, [lines]);
  const look = (event: Event): void => {
    const { scrollTop, clientHeight, scrollHeight } = event.target as Element;
    isAtEnd.current = scrollTop + clientHeight >= scrollHeight - 30;
  };
  if (lines.length === 0) return <p class="empty">{empty}</p>;
  return (
    <div ref={box} onScrollCapture={look}>
      <LogLines lines={lines} />
    </div>
  );
}
