// Lines of all of an output that have a text: the head looks for them, part by part, and goes on
// when more has come.

import { useEffect, useRef, useState } from 'preact/hooks';
import { asRetried, call, HeadError } from '../../data/client.ts';
import { addFound, type FoundSoFar, NOTHING_FOUND } from '../../pure/found-lines.ts';
import type { Output, Source } from './use-output.ts';

/** Pause after typing, so that not each letter is searched for. */
const TYPING_MS = 300;
/** What comes is searched together. */
const MORE_MS = 2000;
const RETRY_MS = 5000;

export interface Found extends FoundSoFar {
  readonly error: HeadError | null;
}

const NOTHING: Found = { ...NOTHING_FOUND, error: null };

/** `output`: told of what comes; a search of nothing asks nothing. */
export function useFound(source: Source, search: string, output: Output): Found {
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
