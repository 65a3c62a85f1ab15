// All routes of a head, each with what is known of it: the kernel's and those of its wings.

import type { ApiPart } from './part.ts';
import { methodAndPath, type RouteName } from './paths.ts';
import type { RouteShape } from './route-shape.ts';
import { ROUTES } from './routes.ts';

/** One route with everything known of it, under one type whatever its schemas. */
export interface Route extends RouteShape {
  readonly name: RouteName;
  readonly method: string;
  readonly path: string;
}

/** In the order of the table, those of wings behind. */
export function listRoutes(parts: readonly ApiPart[]): Route[] {
  const tables: readonly ApiPart['routes'][] = [ROUTES, ...parts.map(({ routes }) => routes)];
  return tables.flatMap((table) =>
    Object.entries(table).map(([name, shape]) => {
      const known = name as RouteName;
      return { ...shape, name: known, ...methodAndPath(known) };
    }),
  );
}
