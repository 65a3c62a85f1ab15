// What happens in the cluster, as a stream that goes on where it was after a cut.

import { checkOptions } from './known-options.ts';
import type { HeadConnection } from './line.ts';
import { EVENT_OPTIONS, type EventOptions } from './options.ts';
import { listed, pathOf } from './submission.ts';
import type { ClusterEvent } from './views.ts';

interface Message {
  readonly id: number | null;
  readonly data: string;
}

interface RecordOfEvents {
  readonly seq: number;
  readonly at: number;
  readonly events: readonly { readonly kind: string }[];
}

/** Ends when `signal` is aborted, else never. */
export async function* readEvents(
  line: HeadConnection,
  options: EventOptions,
): AsyncGenerator<ClusterEvent, void, undefined> {
  checkOptions('events', options, EVENT_OPTIONS);
  const { jobs, kinds, after, signal } = options;
  let last = after;
  const job = listed(jobs)?.map((one) => Number.parseInt(pathOf(one), 10));
  while (signal?.aborted !== true) {
    const query = { job: job?.join(), kind: listed(kinds)?.join(), after: last };
    try {
      const answer = await line.stream('events', {
        query,
        timeoutMs: 0,
        ...(signal === undefined ? {} : { signal }),
      });
      const stop = () => answer.destroy();
      signal?.addEventListener('abort', stop, { once: true });
      try {
        for await (const { id, data } of messages(answer as AsyncIterable<Uint8Array>)) {
          last = id ?? last;
          if (data !== '') yield* eventsOf(JSON.parse(data) as RecordOfEvents);
        }
      } catch (error) {
        if (!isCut(error)) throw error;
      } finally {
        signal?.removeEventListener('abort', stop);
        answer.destroy();
      }
    } catch (error) {
      if (signal?.aborted) return;
      throw error;
    }
  }
}

function* eventsOf({ seq, at, events }: RecordOfEvents): Generator<ClusterEvent> {
  for (const event of events) yield { ...event, seq, at };
}

/** The connection broke: what was missed comes with the next one. */
function isCut(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code !== undefined;
}

/** Server-sent events (WHATWG HTML, section 9.2), as far as the head sends them. */
async function* messages(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Message> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of bytes) {
    rest += decoder.decode(piece, { stream: true });
    for (let end = rest.indexOf('\n\n'); end !== -1; end = rest.indexOf('\n\n')) {
      yield messageOf(rest.slice(0, end));
      rest = rest.slice(end + 2);
    }
  }
}

function messageOf(text: string): Message {
  let id: number | null = null;
  const data: string[] = [];
  for (const field of text.split('\n')) {
    if (field.startsWith('id:')) id = Number(field.slice(3));
    else if (field.startsWith('data:')) data.push(field.slice(5).trimStart());
  }
  return { id, data: data.join('\n') };
}
