// Lines of output, or those that a search finds in all of it, at the end of which one stays while more comes.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { asRetried, call, HeadError } from '../../data/client.ts';
import { addFound, type FoundSoFar, NOTHING_FOUND } from '../../pure/found-lines.ts';
import type { LogLine } from '../../pure/log-text.ts';
import { sizeWords, some } from '../../pure/words.ts';
import { Problem } from '../basic.tsx';
import { LogLines } from './log-lines.tsx';
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

// Lines of all of an output that have a text: the head looks for them, part by part, and goes on
// when more has come.

/** Pause after typing, so that not each letter is searched for. */
const TYPING_MS = 300;
/** What comes is searched together. */
const MORE_MS = 2000;
const RETRY_MS = 5000;

interface Found extends FoundSoFar {
  readonly error: HeadError | null;
}

const NOTHING: Found = { ...NOTHING_FOUND, error: null };

/** `output`: told of what comes; a search of nothing asks nothing. */
function useFound(source: Source, search: string, output: Output): Found {
  const [found, setFound] = useState<Found>(NOTHING);
  const more = useRef(() => {});
  const { id, stream, nodeRank, epoch } = source;
  useEffect(() => {
    setFound(NOTHING);
    if (search === '') return undefined;
    const looking = new Looking(
      { id, stream, nodeRank, ...(epoch && { epoch }) },
      search,
      setFound,
    );
    more.current = () => looking.soon(MORE_MS);
    looking.soon(TYPING_MS);
    return () => {
      more.current = () => {};
      looking.stop();
    };
  }, [id, stream, nodeRank, epoch, search]);
  useEffect(() => more.current(), [output]);
  return found;
}

class Looking {
  readonly #source: Source;
  readonly #text: string;
  readonly #tell: (found: Found) => void;
  readonly #gone = new AbortController();
  #found: FoundSoFar = NOTHING_FOUND;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isBusy = false;

  constructor(source: Source, text: string, tell: (found: Found) => void) {
    this.#source = source;
    this.#text = text;
    this.#tell = tell;
  }

  stop(): void {
    this.#gone.abort();
    clearTimeout(this.#timer);
  }

  soon(waitMs: number): void {
    if (this.#gone.signal.aborted) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#isBusy) this.soon(waitMs);
      else void this.#look();
    }, waitMs);
  }

  /** From where the last answer ended to the end of what is there. */
  async #look(): Promise<void> {
    const { signal } = this.#gone;
    const { id, stream, nodeRank, epoch } = this.#source;
    this.#isBusy = true;
    try {
      do {
        const where = { stream, nodeRank, epoch, text: this.#text, offset: this.#found.looked };
        const reply = await call('searchLogs', { params: { id }, query: where, signal });
        this.#found = addFound(this.#found, reply);
        if (!signal.aborted) this.#tell({ ...this.#found, error: null });
      } while (!this.#found.isEnd && !this.#found.isFull && !signal.aborted);
    } catch (error) {
      if (!signal.aborted && error instanceof HeadError) this.#failed(error);
    }
    this.#isBusy = false;
  }

  #failed(error: HeadError): void {
    this.#tell({ ...this.#found, error: asRetried(error) });
    if (error.kind === 'unavailable') this.soon(RETRY_MS);
  }
}
