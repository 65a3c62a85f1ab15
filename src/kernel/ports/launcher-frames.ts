// The frames between agent and launcher (launcher/README.md), said once for both ends that are
// written in TypeScript: the agent, and the launcher for machines without a C compiler. What
// launcher/wire.h says to the one in C is held to the same by test/contract/launcher.test.ts.

import type { LaunchStage } from '../model/processes.ts';

/** Raised when a frame changes. */
export const LAUNCHER_VERSION = 1;
/** Largest frame either side accepts, in bytes after the length word. */
export const FRAME_BYTES_MAX = 1 << 20;

export const SPAWN_FLAG = { setIds: 1, append: 2, byUmask: 4, makeParents: 8 } as const;
/** Reach of a signal: all that belongs to the process, the process alone, all but it. */
export const SCOPE = { all: 1, main: 2, others: 3 } as const;

/** In the place of a limit that there is not. */
export const UNLIMITED = 0xffff_ffff_ffff_ffffn;
export const RECORD_STATE = { running: 1, stopped: 2, exited: 3, failed: 4, launching: 5 } as const;
/** Where a start failed. */
export const STAGE: Readonly<Record<LaunchStage, number>> = {
  fork: 1,
  cgroup: 2,
  limits: 3,
  credentials: 4,
  chdir: 5,
  stdin: 6,
  stdout: 7,
  stderr: 8,
  exec: 9,
  lease: 10,
};
/** `why` of an end that the launcher made, as the lease was over. */
export const LEASE_OVER = 1;
/**
 * After the first three the launcher closes. The last is none: with it a launcher that knows all of
 * `SCOPE` answers a hello, which agents of before note and pass by; one of before closes when it is
 * sent another scope than `all`.
 */
export const LAUNCHER_ERROR = {
  malformed: 1,
  version: 2,
  noHello: 3,
  unknownId: 4,
  stillLive: 5,
  knowsScopes: 6,
} as const;

/** Little endian; a text is u32 length and bytes without NUL, a list u32 count and elements. */
export type Sort = 'u32' | 'i32' | 'u64' | 'text' | 'u32[]' | 'text[]' | 'limit[]';

/** One kind of frame: after u32 length comes u8 type, then the fields in this order. */
export interface Layout {
  readonly type: number;
  readonly fields: Readonly<Record<string, Sort>>;
}

const ID = { id: 'u64' } as const;
const END = {
  userUs: 'u64',
  systemUs: 'u64',
  rssPeakKib: 'u64',
  endedAt: 'u64',
  why: 'u32',
} as const;

/** Agent to launcher. */
export const REQUESTS = {
  hello: { type: 0x01, fields: { version: 'u32' } },
  spawn: {
    type: 0x02,
    fields: {
      ...ID,
      flags: 'u32',
      uid: 'u32',
      gid: 'u32',
      groups: 'u32[]',
      nice: 'i32',
      umask: 'u32',
      cwd: 'text',
      argv: 'text[]',
      environment: 'text[]',
      stdin: 'text',
      stdout: 'text',
      stderr: 'text',
      limits: 'limit[]',
      cgroupProcs: 'text[]',
      /** 0: it may live for ever. */
      leaseMs: 'u64',
    },
  },
  signal: { type: 0x03, fields: { ...ID, signal: 'u32', scope: 'u32' } },
  forget: { type: 0x04, fields: ID },
  list: { type: 0x05, fields: {} },
  /** `all`: 1; nothing else can be asked for. */
  shutdown: { type: 0x06, fields: { all: 'u32' } },
  leftovers: { type: 0x07, fields: ID },
  /** In ms of CLOCK_MONOTONIC. */
  heard: { type: 0x08, fields: { monotonic: 'u64' } },
} as const satisfies Readonly<Record<string, Layout>>;

/** Launcher to agent. Times are ms since 1970. */
export const ANSWERS = {
  hello: { type: 0x80, fields: { version: 'u32', pid: 'u32', startTicks: 'u64', uid: 'u32' } },
  /** `startTicks` is 0 where reading them costs too much; the record has them. */
  started: { type: 0x81, fields: { ...ID, pid: 'u32', startTicks: 'u64', startedAt: 'u64' } },
  failed: { type: 0x82, fields: { ...ID, errno: 'u32', stage: 'u32' } },
  /** `status`: that of wait(2). */
  exited: { type: 0x83, fields: { ...ID, status: 'u32', ...END } },
  stopped: { type: 0x84, fields: ID },
  continued: { type: 0x85, fields: ID },
  signalled: { type: 0x86, fields: { ...ID, count: 'u32' } },
  /**
   * `startTicks`: 0 when it ended before anybody asked for its record. `status`: that of wait(2)
   * once exited, the errno once failed.
   */
  record: {
    type: 0x87,
    fields: {
      ...ID,
      state: 'u32',
      pid: 'u32',
      startTicks: 'u64',
      startedAt: 'u64',
      status: 'u32',
      stage: 'u32',
      ...END,
    },
  },
  list_end: { type: 0x88, fields: { count: 'u32' } },
  leftovers: { type: 0x89, fields: { ...ID, count: 'u32' } },
  error: { type: 0x8f, fields: { code: 'u32', ...ID, text: 'text' } },
} as const satisfies Readonly<Record<string, Layout>>;

/** Numbers as in setrlimit(2). */
export interface Limit<Long> {
  readonly resource: number;
  readonly soft: Long;
  readonly hard: Long;
}

interface Sorts<Long, Text> {
  u32: number;
  i32: number;
  u64: Long;
  text: Text;
  'u32[]': readonly number[];
  'text[]': readonly Text[];
  'limit[]': readonly Limit<Long>[];
}

/** What the fields of a frame are to the one who writes or reads it. */
export type Fields<L extends Layout, Long, Text = string> = {
  readonly [F in keyof L['fields']]: Sorts<Long, Text>[L['fields'][F]];
};

type Layouts = Readonly<Record<string, Layout>>;

/** A frame as a value: its kind and its fields. */
export type Frame<T extends Layouts, Long, K extends keyof T = keyof T> = {
  [One in K]: { readonly kind: One } & Fields<T[One], Long>;
}[K];

/** One kind of frame, ready to be read or written field by field. */
export interface Reading<Kind> {
  readonly kind: Kind;
  readonly fields: readonly (readonly [name: string, sort: Sort])[];
}

/** The kinds by the number of their type. */
export function byType<T extends Layouts>(layouts: T): ReadonlyMap<number, Reading<keyof T>> {
  return new Map(
    Object.entries(layouts).map(([kind, { type, fields }]) => [
      type,
      { kind, fields: Object.entries(fields) },
    ]),
  );
}
