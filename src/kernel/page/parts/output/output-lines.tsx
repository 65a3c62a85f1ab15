// Lines of output, or those that a search finds in all of it, at the end of which one stays while more comes.

import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { LogLine } from '../../pure/log-text.ts';
import { sizeWords, some } from '../../pure/words.ts';
import { Problem } from '../basic.tsx';
import { LogLines } from './log-lines.tsx';
import { type Found, useFound } from './use-found.ts';
import type { Output, Source } from './use-output.ts';

/** `empty`: what is said when there is no line. */
export function OutputLines({
  output,
  source,
  search,
  empty,
}: {
  output: Output;
  source: Source;
  search: string;
  empty: string;
}) {
  const all = useMemo(
    () => (output.rest === null ? output.lines : [...output.lines, output.rest]),
    [output],
  );
  const found = useFound(source, search, output);
  if (search !== '') return <FoundLines found={found} />;
  return (
    <>
      <Problem error={output.error} />
      {output.skipped > 0 && (
        <p class="faint">{some(output.skipped, 'byte')} before this; the download has all.</p>
      )}
      <Scrolled lines={all} empty={empty} />
    </>
  );
}

/** The lines of all the output that have the text, as far as was looked. */
function FoundLines({ found }: { found: Found }) {
  const { lines, looked, size, isEnd, isFull, error } = found;
  const so = isFull ? 'the first of them' : isEnd ? 'in all of it' : 'so far';
  const far = isEnd || isFull ? '' : `, ${sizeWords(looked)} of ${sizeWords(size)} searched`;
  return (
    <>
      <Problem error={error} />
      <p class="faint" role="status">
        {some(lines.length, 'line')} {so}
        {far}
      </p>
      {lines.length > 0 && <LogLines lines={lines} />}
      {lines.length === 0 && isEnd && <p class="empty">No line has this.</p>}
    </>
  );
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
