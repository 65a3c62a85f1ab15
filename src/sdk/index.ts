// The library `weft`: what programs import. Everything that is public stands here, and nothing else
// is.

export { type CallContext, call } from '../functions/travel/context.ts';
export { NotSendable } from '../functions/travel/not-sendable.ts';
export { Shared } from '../functions/travel/shared.ts';
export { type AllocateOptions, Allocation, allocate } from './allocate.ts';
export type { Batch as BatchDefinition } from './batch.ts';
export { Cluster, type JobFilter, type RunResult } from './cluster.ts';
export { type ConnectOptions, connect } from './connect.ts';
export { type ErrorKind, JobFailed, WeftError, type WeftErrorParts } from './errors.ts';
export { Job } from './job.ts';
export type {
  Duration,
  EachItem,
  JobCommand,
  JobOptions,
  JobReference,
  Size,
} from './job-options.ts';
export type {
  BatchOptions,
  EventOptions,
  LogOptions,
  OutputOptions,
  PullOptions,
  RunOptions,
  WaitOptions,
} from './options.ts';
export type { PilotOptions } from './pilots.ts';
export { Call } from './pools/call.ts';
export {
  CallCancelled,
  CallRefused,
  CallTimeout,
  ClusterGone,
  PoolClosed,
  RemoteError,
  WorkerLost,
} from './pools/call-errors.ts';
export type { CallOutcome, CallState } from './pools/call-record.ts';
export type { MapOutcome } from './pools/map.ts';
export { Pool, PoolCaller } from './pools/pool.ts';
export { type CallbackOf, PoolClient } from './pools/pool-client.ts';
export type {
  CallOptions,
  MapOptions,
  ModuleReference,
  OverloadArguments,
  OverloadResult,
  PoolFunction,
  PoolOptions,
  PoolStatus,
  RecycleOptions,
  Sendable,
  WorkerImage,
  WorkerOptions,
  WorkerRange,
} from './pools/pool-options.ts';
export { type StartOptions, type StopOptions, start, stop } from './start.ts';
export { SubmittedBatch } from './submitted-batch.ts';
export type {
  BatchInfo,
  ClusterEvent,
  ExitStatus,
  Explanation,
  JobInfo,
  JobState,
  NodeInfo,
  Outcome,
  OutcomeKind,
  PulledFile,
  Reason,
  ResourceRequest,
  Resources,
  StartGuess,
  TaskInfo,
} from './views.ts';
