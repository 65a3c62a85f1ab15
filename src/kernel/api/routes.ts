// The table of routes. The server, the OpenAPI document, the client's types and the test that walks
// all routes with the wrong credentials are made from it. Each noun has its own beside its schemas,
// and each wing those of its nouns.

import type { z } from 'zod';
import { blobRoutes } from './blobs.ts';
import { clusterRoutes } from './cluster.ts';
import { jobRoutes } from './job-routes.ts';
import { maintenanceRoutes } from './maintenance.ts';
import { nodeRoutes } from './nodes.ts';
import { outputRoutes } from './outputs.ts';
import { partitionRoutes } from './partitions.ts';
import { reservationRoutes } from './reservations.ts';
import type { RouteShape } from './route-shape.ts';
import { scheduleRoutes } from './schedule.ts';
import { uiRoutes } from './ui.ts';
import { usageReportRoutes } from './usage-report.ts';
import { userRoutes } from './users.ts';

export const ROUTES = {
  ...jobRoutes,
  ...usageReportRoutes,
  ...blobRoutes,
  ...outputRoutes,
  ...partitionRoutes,
  ...nodeRoutes,
  ...maintenanceRoutes,
  ...reservationRoutes,
  ...userRoutes,
  ...scheduleRoutes,
  ...uiRoutes,
  ...clusterRoutes,
} as const satisfies Readonly<Record<string, RouteShape>>;

type KernelRoutes = typeof ROUTES;

/** All routes, for the types alone: wings add theirs in their files `api/paths.ts`. */
export interface RouteTable extends KernelRoutes {}

type RouteName = keyof RouteTable;
type Input<S> = S extends z.ZodType ? z.input<S> : undefined;
type Output<S> = S extends z.ZodType ? z.output<S> : undefined;
type RouteSchema<N extends RouteName, K extends string> = RouteTable[N] extends {
  readonly [P in K]: infer S;
}
  ? S
  : undefined;

/** What the handler of a route gets: checked and converted. */
export interface Request<N extends RouteName> {
  readonly params: Output<RouteSchema<N, 'params'>>;
  readonly query: Output<RouteSchema<N, 'query'>>;
  readonly body: Output<RouteSchema<N, 'body'>>;
}
/** The routes at which a connection becomes another protocol's. */
export type UpgradeName = {
  [N in RouteName]: RouteTable[N] extends { readonly produces: 'upgrade' } ? N : never;
}[RouteName];
/** What a client may send as the body of a route; it is only read. */
export type Body<N extends RouteName> = ReadOnly<Input<RouteSchema<N, 'body'>>>;
/** What a route answers. */
export type ReplyOf<N extends RouteName> = Output<RouteSchema<N, 'reply'>>;

/** A schema's arrays and objects can be changed; what is sent need not be. */
type ReadOnly<T> = T extends object ? { readonly [K in keyof T]: ReadOnly<T[K]> } : T;
