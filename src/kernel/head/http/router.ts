// From method and path to a route of the table.

import type { Route } from '../../api/route-list.ts';
import { err, ok, type Result } from '../../base/result.ts';

export interface Match {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
  /** Without the question mark. */
  readonly query: string;
}

const NO_PARAMS: Readonly<Record<string, string>> = {};

interface Pattern {
  readonly route: Route;
  readonly parts: readonly string[];
}

export class Router {
  readonly all: readonly Route[];
  /** Routes without parameters, the frequent ones: found by one look. */
  readonly #fixed = new Map<string, Route>();
  /** The others by method and number of parts. */
  readonly #patterns = new Map<string, Pattern[]>();

  constructor(routes: readonly Route[]) {
    this.all = routes;
    for (const route of routes) {
      if (!route.path.includes(':')) {
        this.#fixed.set(`${route.method} ${route.path}`, route);
        continue;
      }
      const parts = route.path.split('/');
      const key = `${route.method} ${parts.length}`;
      this.#patterns.set(key, [...(this.#patterns.get(key) ?? []), { route, parts }]);
    }
  }

  /** `url` as in the request line. The error says what there is instead. */
  match(method: string, url: string): Result<Match, string> {
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const query = mark < 0 ? '' : url.slice(mark + 1);
    const fixed = this.#fixed.get(`${method} ${path}`);
    if (fixed !== undefined) return ok({ route: fixed, params: NO_PARAMS, query });
    const parts = path.split('/');
    for (const pattern of this.#patterns.get(`${method} ${parts.length}`) ?? []) {
      const params = bind(pattern.parts, parts);
      if (params !== null) return ok({ route: pattern.route, params, query });
    }
    return err(`${method} ${path}`.slice(0, 200));
  }
}

function bind(
  pattern: readonly string[],
  parts: readonly string[],
): Readonly<Record<string, string>> | null {
  const params: Record<string, string> = {};
  for (const [at, part] of pattern.entries()) {
    const actual = parts[at] ?? '';
    if (!part.startsWith(':')) {
      if (part !== actual) return null;
      continue;
    }
    const value = decode(actual);
    if (value === null) return null;
    params[part.slice(1)] = value;
  }
  return params;
}

function decode(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null; // A broken percent escape names nothing.
  }
}
