// The handler of each route of the kernel, by name. The compiler complains when one is missing.
// Files of handlers are taken whole: what else they export has the name of no route.

import type { ROUTES } from '../../../api/routes.ts';
import type { HandlersOf } from '../call.ts';
import * as blobs from './blobs.ts';
import * as cluster from './cluster.ts';
import { events } from './events.ts';
import { feedJob } from './feed-job.ts';
import { history } from './history.ts';
import * as actions from './job-actions.ts';
import { listJobs } from './list-jobs.ts';
import { listTasks } from './list-tasks.ts';
import * as login from './login.ts';
import { readLogs } from './logs.ts';
import * as maintenance from './maintenance.ts';
import { mapTasks } from './map-tasks.ts';
import { metrics } from './metrics.ts';
import * as nodes from './nodes.ts';
import * as outputs from './outputs.ts';
import { loadHistory, overview } from './overview.ts';
import * as partitions from './partitions.ts';
import * as reservations from './reservations.ts';
import { schedule } from './schedule.ts';
import { searchLogs } from './search-logs.ts';
import { explainJob, getJob } from './show-job.ts';
import { rehearseJob, retryJob, submitJob, submitJobs } from './submit.ts';
import * as tokens from './tokens.ts';
import * as ui from './ui.ts';
import { reportUsage } from './usage-report.ts';
import * as users from './users.ts';
import { waitForJob } from './wait.ts';
import { waitForJobs } from './wait-many.ts';

export const HANDLERS: HandlersOf<typeof ROUTES> = {
  submitJob,
  submitJobs,
  rehearseJob,
  listJobs,
  getJob,
  listTasks,
  mapTasks,
  explainJob,
  waitForJob,
  waitForJobs,
  readLogs,
  searchLogs,
  feedJob,
  ...actions,
  retryJob,
  ...blobs,
  ...outputs,
  ...partitions,
  history,
  reportUsage,
  ...nodes,
  ...maintenance,
  ...reservations,
  ...users,
  ...tokens,
  ...login,
  schedule,
  ...ui,
  ...cluster,
  overview,
  loadHistory,
  events,
  metrics,
};
