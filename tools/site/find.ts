// What the search field of the documents finds: pure, so that a browser and a test run the same.

/** A part of a page, from one heading to the next. */
export interface Part {
  readonly url: string;
  readonly title: string;
  readonly heading: string;
  readonly text: string;
}

export interface Found {
  readonly part: Part;
  /** The text around the first word that was found. */
  readonly words: string;
}

const FOUND_MAX = 12;
const AROUND = 60;
const QUERY_WORDS_MAX = 8;
const POINTS = { title: 12, heading: 8, start: 4, text: 1 };

/** The best parts that have every word of the query, in any order and case. */
export function find(parts: readonly Part[], query: string): Found[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, QUERY_WORDS_MAX);
  if (words.length === 0) return [];
  return parts
    .map((part) => ({ part, points: pointsOf(part, words) }))
    .filter(({ points }) => points > 0)
    .sort((one, other) => other.points - one.points)
    .slice(0, FOUND_MAX)
    .map(({ part }) => ({ part, words: around(part.text, words) }));
}

/** 0 unless it has all of them. */
function pointsOf({ title, heading, text }: Part, words: readonly string[]): number {
  const [inTitle, inHeading, inText] = [title, heading, text].map((one) => one.toLowerCase());
  let points = 0;
  for (const word of words) {
    const found =
      (inTitle?.includes(word) ? POINTS.title : 0) +
      (inHeading?.includes(word) ? POINTS.heading : 0) +
      (inHeading?.startsWith(word) ? POINTS.start : 0) +
      (inText?.includes(word) ? POINTS.text : 0);
    if (found === 0) return 0;
    points += found;
  }
  // Of two parts that say it the shorter one says it more.
  return points + 1 / (1 + text.length);
}

function around(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const at = words.map((word) => lower.indexOf(word)).find((place) => place >= 0) ?? 0;
  const from = Math.max(0, at - AROUND);
  const until = Math.min(text.length, at + 2 * AROUND);
  return `${from > 0 ? '… ' : ''}${text.slice(from, until).trim()}${until < text.length ? ' …' : ''}`;
}
