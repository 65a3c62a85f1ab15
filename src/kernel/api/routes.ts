// The table of routes. The server, the OpenAPI document, the client's types and the test that walks
// all routes with the wrong credentials are made from it. Each noun has its own beside its schemas.

import type { z } from 'zod';
import { batchRoutes } from '../../wings/batches/api/batches.ts';
import { poolRoutes } from '../../wings/calls/api/pools.ts';
import { goalRoutes } from '../../wings/goals/api/goals.ts';
import { noticeRoutes } from '../../wings/notices/api/notices.ts';
import { notificationRoutes } from '../../wings/notify/api/notifications.ts';
import { pilotRoutes } from '../../wings/pilots/api/pilots.ts';
import { siteRoutes } from '../../wings/sites/api/sites.ts';
import { blobRoutes } from './blobs.ts';
import { clusterRoutes } from './cluster.ts';
import { jobRoutes } from './job-routes.ts';
import { maintenanceRoutes } from './maintenance.ts';
import { nodeRoutes } from './nodes.ts';
import { outputRoutes } from './outputs.ts';
import { partitionRoutes } from './partitions.ts';
import { methodAndPath, type RouteName } from './paths.ts';
import { reservationRoutes } from './reservations.ts';
import type { RouteShape } from './route-shape.ts';
import { scheduleRoutes } from './schedule.ts';
import { uiRoutes } from './ui.ts';
import { usageReportRoutes } from './usage-report.ts';
import { userRoutes } from './users.ts';

export const ROUTES = {
  ...jobRoutes,
  ...usageReportRoutes,
  ...batchRoutes,
  ...blobRoutes,
  ...poolRoutes,
  ...pilotRoutes,
  ...outputRoutes,
  ...partitionRoutes,
  ...nodeRoutes,
  ...siteRoutes,
  ...maintenanceRoutes,
  ...goalRoutes,
  ...reservationRoutes,
  ...noticeRoutes,
  ...notificationRoutes,
  ...userRoutes,
  ...scheduleRoutes,
  ...uiRoutes,
  ...clusterRoutes,
} as const satisfies Record<RouteName, RouteShape>;

/** One route with everything known of it, under one type whatever its schemas. */
export interface Route extends RouteShape {
  readonly name: RouteName;
  readonly method: string;
  readonly path: string;
}

/** All routes, in the order of the table. */
export const ROUTE_LIST: readonly Route[] = (Object.keys(ROUTES) as RouteName[]).map((name) => {
  const shape: RouteShape = ROUTES[name];
  return { ...shape, name, ...methodAndPath(name) };
});

type Table = typeof ROUTES;
type Input<S> = S extends z.ZodType ? z.input<S> : undefined;
type Output<S> = S extends z.ZodType ? z.output<S> : undefined;
type Part<N extends RouteName, K extends string> = Table[N] extends { readonly [P in K]: infer S }
  ? S
  : undefined;

/** What the handler of a route gets: checked and converted. */
export interface Request<N extends RouteName> {
  readonly params: Output<Part<N, 'params'>>;
  readonly query: Output<Part<N, 'query'>>;
  readonly body: Output<Part<N, 'body'>>;
}
/** The routes at which a connection becomes another protocol's. */
export type UpgradeName = {
  [N in RouteName]: Table[N] extends { readonly produces: 'upgrade' } ? N : never;
}[RouteName];
/** What a client may send as the body of a route. */
export type Body<N extends RouteName> = Input<Part<N, 'body'>>;
/** What a route answers. */
export type ReplyOf<N extends RouteName> = Output<Part<N, 'reply'>>;
