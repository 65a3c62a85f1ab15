// Method and path of each route of the wing, for clients: no schema library is loaded for them.

import { addPaths } from '../../../kernel/api/paths.ts';
import type { sampleRoutes, UsedView } from './samples.ts';

type Routes = typeof sampleRoutes;

declare module '../../../kernel/api/routes.ts' {
  interface RouteTable extends Routes {}
}

declare module '../../../kernel/api/jobs.ts' {
  interface JobDetail {
    readonly used?: UsedView | null;
  }
}

addPaths({
  nodeSamples: 'GET /v1/nodes/:name/samples',
  gpuMap: 'GET /v1/samples/gpus',
  usedByOwners: 'GET /v1/samples/owners',
} satisfies Readonly<Record<keyof Routes, string>>);
