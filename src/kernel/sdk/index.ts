// The library `weft`: what programs import. Everything that is public stands here, and nothing else
// is.

export type { Batch as BatchDefinition } from '../../wings/batches/sdk/batch.ts';
export { SubmittedBatch } from '../../wings/batches/sdk/submitted-batch.ts';
export { type CallContext, call } from '../../wings/calls/functions/travel/context.ts';
export { NotSendable } from '../../wings/calls/functions/travel/not-sendable.ts';
export { Shared } from '../../wings/calls/functions/travel/shared.ts';
export { Call } from '../../wings/calls/sdk/call.ts';
export {
  CallCancelled,
  CallRefused,
  CallTimeout,
  ClusterGone,
  PoolClosed,
  RemoteError,
  WorkerLost,
} from '../../wings/calls/sdk/call-errors.ts';
export type { CallOutcome, CallState } from '../../wings/calls/sdk/call-record.ts';
export type { MapOutcome } from '../../wings/calls/sdk/map.ts';
export { Pool, PoolCaller } from '../../wings/calls/sdk/pool.ts';
export { type CallbackOf, PoolClient } from '../../wings/calls/sdk/pool-client.ts';
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
} from '../../wings/calls/sdk/pool-options.ts';
export { type AllocateOptions, Allocation, allocate } from '../../wings/pilots/sdk/allocate.ts';
export type { PilotOptions } from '../../wings/pilots/sdk/pilots.ts';
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
export { type StartOptions, type StopOptions, start, stop } from './start.ts';
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
