// What is told, in the forms that the kinds of notifiers need.

import { assert } from '../../../kernel/base/assert.ts';
import { formatSubject, type News } from '../../../kernel/model/notification.ts';
import { textOf, textOfMany, titleOf } from './notification-words.ts';

export interface Message {
  /** The same each time that it is sent: whoever gets it twice can tell. */
  readonly id: string;
  /** One line. */
  readonly title: string;
  /** Lines for people, the title among them. */
  readonly text: string;
  /** JSON of one event for programs, without a line break. */
  readonly data: string;
  /** The first of what it tells. */
  readonly news: News;
}

/** One message of all of it. */
export function messageOfAll(all: readonly News[], cluster: string): Message {
  const [news] = all;
  assert(news !== undefined, 'there is something to tell');
  const isOne = all.length === 1;
  const id = `${idOf(news)}${isOne ? '' : `-and-${all.length - 1}`}`;
  const title = `${titleOf(news)}${isOne ? '' : `, and ${all.length - 1} more`}`;
  const text = isOne ? textOf(news, cluster) : textOfMany(all, cluster);
  return {
    id,
    title,
    text,
    news,
    data: JSON.stringify(eventOf(news, { id, cluster, title, text })),
  };
}

/** A store that was made anew gives out the same numbers again, but at other times. */
function idOf({ subject, submittedAt, endedAt }: News): string {
  const plain = formatSubject(subject).replace(/[^A-Za-z0-9._-]/g, '-');
  return `weft-${plain}-${submittedAt}-${endedAt}`;
}

function eventOf(
  { subject, ...news }: News,
  about: Pick<Message, 'id' | 'title' | 'text'> & { readonly cluster: string },
): object {
  const { exit, detail = null, counts = null, ...rest } = news;
  const what = subject.kind === 'job' ? { job: subject.jobId } : { batch: subject.batch };
  const { code = null, signal = null } = exit ?? {};
  return {
    v: 1,
    ...about,
    kind: subject.kind,
    ...what,
    ...rest,
    exitCode: code,
    signal,
    detail,
    counts,
  };
}
