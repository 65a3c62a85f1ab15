// The library `weft`: what programs import. Everything that is public stands here, and nothing else
// is. Without its lines and its folder a wing is gone, and the rest works.

// Methods of `Cluster` that wings add.
import './wings/batches/sdk/cluster.ts';
import './wings/calls/sdk/cluster.ts';

export type { Duration, JobReference, Size } from './kernel/model/options/types.ts';
export { Cluster, type JobFilter, type RunResult } from './kernel/sdk/cluster.ts';
export { type ConnectOptions, connect } from './kernel/sdk/connect.ts';
export { type ErrorKind, JobFailed, WeftError, type WeftErrorParts } from './kernel/sdk/errors.ts';
export { Job } from './kernel/sdk/job.ts';
export type { EachItem, JobCommand, JobOptions } from './kernel/sdk/job-options.ts';
export type {
  EventOptions,
  LogOptions,
  OutputOptions,
  PullOptions,
  RunOptions,
  WaitOptions,
} from './kernel/sdk/options.ts';
export type {
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
} from './kernel/sdk/views.ts';
export type { Batch as BatchDefinition } from './wings/batches/sdk/batch.ts';
export type { BatchInfo } from './wings/batches/sdk/info.ts';
export type { BatchOptions } from './wings/batches/sdk/options.ts';
export { SubmittedBatch } from './wings/batches/sdk/submitted-batch.ts';
export { type CallContext, call } from './wings/calls/functions/serialization/context.ts';
export { NotSendable } from './wings/calls/functions/serialization/not-sendable.ts';
export { Shared } from './wings/calls/functions/serialization/shared.ts';
export { Call } from './wings/calls/sdk/call.ts';
export {
  CallCancelled,
  CallRefused,
  CallTimeout,
  ClusterGone,
  PoolClosed,
  RemoteError,
  WorkerLost,
} from './wings/calls/sdk/call-errors.ts';
export type { CallOutcome, CallState } from './wings/calls/sdk/call-record.ts';
export type { MapOutcome } from './wings/calls/sdk/map.ts';
export { Pool, PoolCaller } from './wings/calls/sdk/pool.ts';
export { type CallbackOf, PoolClient } from './wings/calls/sdk/pool-client.ts';
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
} from './wings/calls/sdk/pool-options.ts';
export { type AllocateOptions, Allocation, allocate } from './wings/pilots/sdk/allocate.ts';
export type { PilotOptions } from './wings/pilots/sdk/pilots.ts';
export { type StartOptions, type StopOptions, start, stop } from './wings/pilots/sdk/start.ts';
