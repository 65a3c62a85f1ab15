// Submissions that were sent and not answered: each has its key, under which it is one job however
// often it is sent. Another submission is another wish, with a key of its own.

/** More of them nobody tells apart. */
const KEPT_MAX = 5;

export interface Unanswered {
  /** What was sent: the route with its body, as JSON. */
  readonly wish: string;
  readonly key: string;
  readonly at: number;
}

/** The key of this wish: the one under which it was sent before, else `fresh`. */
export function keyOf(all: readonly Unanswered[], wish: string, fresh: string): string {
  return all.find((one) => one.wish === wish)?.key ?? fresh;
}

export function withUnanswered(all: readonly Unanswered[], sent: Unanswered): Unanswered[] {
  return [...withoutUnanswered(all, sent.wish), sent].slice(-KEPT_MAX);
}

export function withoutUnanswered(all: readonly Unanswered[], wish: string): Unanswered[] {
  return all.filter((one) => one.wish !== wish);
}

/** Read as if a stranger had written it; of anybody else's nothing is known. */
export function readUnanswered(text: string | null, user: string): Unanswered[] {
  const kept = parsed(text);
  if (kept['of'] !== user || !Array.isArray(kept['all'])) return [];
  return kept['all'].filter(isUnanswered).slice(-KEPT_MAX);
}

export function writeUnanswered(all: readonly Unanswered[], user: string): string | null {
  return all.length === 0 ? null : JSON.stringify({ of: user, all });
}

function isUnanswered(one: Partial<Unanswered> | null): one is Unanswered {
  const isKey = typeof one?.key === 'string' && /^[\w-]{1,100}$/.test(one.key);
  return isKey && typeof one.wish === 'string' && typeof one.at === 'number';
}

function parsed(text: string | null): Readonly<Record<string, unknown>> {
  try {
    return { ...(JSON.parse(text ?? '{}') as object) };
  } catch {
    return {};
  }
}
