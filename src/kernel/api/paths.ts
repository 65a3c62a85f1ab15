// Method and path of every route, by name. No schemas here: the command line loads this file and
// must not pay for the schema library.

import type { ROUTES, RouteTable } from './routes.ts';

const OWN = {
  submitJob: 'POST /v1/jobs',
  submitJobs: 'POST /v1/jobs/bulk',
  rehearseJob: 'POST /v1/jobs/rehearse',
  listJobs: 'GET /v1/jobs',
  getJob: 'GET /v1/jobs/:id',
  listTasks: 'GET /v1/jobs/:id/tasks',
  mapTasks: 'GET /v1/jobs/:id/map',
  explainJob: 'GET /v1/jobs/:id/why',
  waitForJob: 'GET /v1/jobs/:id/wait',
  waitForJobs: 'POST /v1/jobs/wait',
  readLogs: 'GET /v1/jobs/:id/logs',
  searchLogs: 'GET /v1/jobs/:id/logs/search',
  feedJob: 'POST /v1/jobs/:id/stdin',
  cancelJob: 'POST /v1/jobs/:id/cancel',
  holdJob: 'POST /v1/jobs/:id/hold',
  releaseJob: 'POST /v1/jobs/:id/release',
  suspendJob: 'POST /v1/jobs/:id/suspend',
  resumeJob: 'POST /v1/jobs/:id/resume',
  requeueJob: 'POST /v1/jobs/:id/requeue',
  signalJob: 'POST /v1/jobs/:id/signal',
  changeJob: 'PATCH /v1/jobs/:id',
  retryJob: 'POST /v1/jobs/:id/retry',
  lackingBlobs: 'POST /v1/blobs/lacking',
  sendBlobs: 'POST /v1/blobs',
  readBlobs: 'POST /v1/blobs/read',
  blobFiles: 'POST /v1/blobs/files',
  checkBlob: 'HEAD /v1/blobs/:hash',
  sendBlob: 'PATCH /v1/blobs/:hash',
  readBlob: 'GET /v1/blobs/:hash',
  storeOutputs: 'PUT /v1/epochs/:epochId/outputs',
  listOutputs: 'GET /v1/jobs/:id/outputs',
  getOutputs: 'GET /v1/jobs/:id/outputs/:index',
  removeOutputs: 'DELETE /v1/jobs/:id/outputs',
  listPartitions: 'GET /v1/partitions',
  getPartition: 'GET /v1/partitions/:name',
  changePartition: 'PUT /v1/partitions/:name',
  resetPartition: 'POST /v1/partitions/:name/reset',
  listQos: 'GET /v1/qos',
  reloadConfig: 'POST /v1/config/reload',
  history: 'GET /v1/history',
  reportUsage: 'GET /v1/history/usage',
  listNodes: 'GET /v1/nodes',
  getNode: 'GET /v1/nodes/:name',
  createNode: 'POST /v1/nodes',
  removeNode: 'DELETE /v1/nodes/:name',
  drainNode: 'POST /v1/nodes/:name/drain',
  undrainNode: 'POST /v1/nodes/:name/undrain',
  pauseNode: 'POST /v1/nodes/:name/pause',
  unpauseNode: 'POST /v1/nodes/:name/unpause',
  modifyNode: 'POST /v1/nodes/:name',
  labelNode: 'POST /v1/nodes/:name/label',
  declareNodeLost: 'POST /v1/nodes/:name/lost',
  join: 'POST /v1/join',
  agent: 'GET /v1/agent',
  planMaintenance: 'POST /v1/maintenance',
  nodeOn: 'POST /v1/maintenance/node-on',
  listMaintenance: 'GET /v1/maintenance',
  getMaintenance: 'GET /v1/maintenance/:id',
  cancelMaintenance: 'POST /v1/maintenance/:id/cancel',
  listReservations: 'GET /v1/reservations',
  createReservation: 'POST /v1/reservations',
  getReservation: 'GET /v1/reservations/:name',
  changeReservation: 'PATCH /v1/reservations/:name',
  cancelReservation: 'DELETE /v1/reservations/:name',
  listUsers: 'GET /v1/users',
  listUsage: 'GET /v1/usage',
  createUser: 'POST /v1/users/:name',
  modifyUser: 'PUT /v1/users/:name',
  removeUser: 'DELETE /v1/users/:name',
  listTokens: 'GET /v1/tokens',
  createToken: 'POST /v1/tokens',
  revokeToken: 'DELETE /v1/tokens/:id',
  createJoinToken: 'POST /v1/join-tokens',
  beginLocalLogin: 'POST /v1/auth/local/begin',
  finishLocalLogin: 'POST /v1/auth/local/finish',
  whoami: 'GET /v1/whoami',
  page: 'GET /',
  pageFile: 'GET /ui/:file',
  loginPage: 'POST /v1/ui/login',
  logoutPage: 'POST /v1/ui/logout',
  createPageLink: 'POST /v1/ui/links',
  schedule: 'GET /v1/schedule',
  info: 'GET /v1/info',
  overview: 'GET /v1/overview',
  loadHistory: 'GET /v1/load',
  events: 'GET /v1/events',
  metrics: 'GET /metrics',
  health: 'GET /healthz',
  readiness: 'GET /readyz',
  openapi: 'GET /openapi.json',
} satisfies Readonly<Record<keyof typeof ROUTES, string>>;

/** The name of a route: what handlers, the client and the documentation call it. */
export type RouteName = keyof RouteTable;

const known: Record<string, string> = { ...OWN };

/** `POST /v1/jobs`, by the route's name: the kernel's, and those of the wings that are loaded. */
export const PATHS: Readonly<Record<string, string>> = known;

/** Called by the file `api/paths.ts` of each wing when a program loads it. */
export function addPaths(paths: Readonly<Partial<Record<RouteName, string>>>): void {
  Object.assign(known, paths);
}

/** Splits `POST /v1/jobs` into its two words. */
export function methodAndPath(name: RouteName): { method: string; path: string } {
  const line = PATHS[name];
  if (line === undefined) throw new Error(`no wing that is loaded has the route ${name}`);
  const [method, path] = line.split(' ') as [string, string];
  return { method, path };
}

/** Fills `:name` parts with encoded values; `42[7]` becomes `42%5B7%5D`. */
export function fillPath(path: string, params: Readonly<Record<string, string>>): string {
  return path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}
