// The handler of each route of the kernel, by name. The compiler complains when one is missing.

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
  cancelJob: actions.cancelJob,
  holdJob: actions.holdJob,
  releaseJob: actions.releaseJob,
  suspendJob: actions.suspendJob,
  resumeJob: actions.resumeJob,
  requeueJob: actions.requeueJob,
  signalJob: actions.signalJob,
  changeJob: actions.changeJob,
  retryJob,
  lackingBlobs: blobs.lackingBlobs,
  checkBlob: blobs.checkBlob,
  sendBlob: blobs.sendBlob,
  readBlob: blobs.readBlob,
  sendBlobs: blobs.sendBlobs,
  readBlobs: blobs.readBlobs,
  blobFiles: blobs.blobFiles,
  storeOutputs: outputs.storeOutputs,
  listOutputs: outputs.listOutputs,
  getOutputs: outputs.getOutputs,
  removeOutputs: outputs.removeOutputs,
  listPartitions: partitions.listPartitions,
  getPartition: partitions.getPartition,
  changePartition: partitions.changePartition,
  resetPartition: partitions.resetPartition,
  listQos: partitions.listQos,
  reloadConfig: partitions.reloadConfig,
  history,
  reportUsage,
  listNodes: nodes.listNodes,
  getNode: nodes.getNode,
  createNode: nodes.createNode,
  removeNode: nodes.removeNode,
  drainNode: nodes.drainNode,
  undrainNode: nodes.undrainNode,
  modifyNode: nodes.modifyNode,
  pauseNode: nodes.pauseNode,
  unpauseNode: nodes.unpauseNode,
  labelNode: nodes.labelNode,
  declareNodeLost: nodes.declareNodeLost,
  join: nodes.join,
  planMaintenance: maintenance.planMaintenance,
  nodeOn: maintenance.nodeOn,
  listMaintenance: maintenance.listMaintenance,
  getMaintenance: maintenance.getMaintenance,
  cancelMaintenance: maintenance.cancelMaintenance,
  listReservations: reservations.listReservations,
  createReservation: reservations.createReservation,
  getReservation: reservations.getReservation,
  changeReservation: reservations.changeReservation,
  cancelReservation: reservations.cancelReservation,
  listUsers: users.listUsers,
  listUsage: users.listUsage,
  createUser: users.createUser,
  modifyUser: users.modifyUser,
  removeUser: users.removeUser,
  listTokens: tokens.listTokens,
  createToken: tokens.createToken,
  revokeToken: tokens.revokeToken,
  createJoinToken: tokens.createJoinToken,
  beginLocalLogin: login.beginLocalLogin,
  finishLocalLogin: login.finishLocalLogin,
  whoami: login.whoami,
  schedule,
  page: ui.page,
  pageFile: ui.pageFile,
  loginPage: ui.loginPage,
  logoutPage: ui.logoutPage,
  createPageLink: ui.createPageLink,
  info: cluster.info,
  overview,
  loadHistory,
  events,
  metrics,
  health: cluster.health,
  readiness: cluster.readiness,
  openapi: cluster.openapi,
};
