// What the wings add to the API, for tests that go through all routes.

import { listRoutes } from '../../src/kernel/api/route-list.ts';
import { WINGS } from '../../src/wings.ts';

export const APIS = await Promise.all(WINGS.flatMap(({ api }) => api?.() ?? []));
export const ROUTE_LIST = listRoutes(APIS);
