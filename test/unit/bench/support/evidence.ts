// Evidence for the judge of chaos: one job that ran as it should, with what a test wants otherwise.

import type { Evidence, Life, Rule, Work } from '../../../../bench/chaos/evidence.ts';
import { judge } from '../../../../bench/chaos/judge.ts';
import type { HistoryJob, HistoryTask } from '../../../../src/kernel/api/history.ts';

export const WORK: Work = {
  key: 'w1',
  partition: 'default',
  arraySize: null,
  nodeCount: 1,
  processesPerNode: 1,
  cpuCount: 1,
  onLoss: 'wait',
  requeue: true,
  retriesMax: 0,
  limitMs: 12_000,
  beats: 20,
  exitCode: 0,
  stubborn: false,
  reservation: null,
  twice: false,
  fileBytes: null,
  at: null,
};
/** Job 1 is `work`, on n1 from 10 to 12 s. */
export const LIFE: Life = {
  task: '1',
  key: 'w1',
  epoch: 1,
  host: 'n1',
  nodeRank: 0,
  rank: 0,
  pid: 7,
  from: 10_000,
  until: 12_000,
  ended: true,
  runs: [{ from: 10_000, until: 12_000 }],
};
export const ROW: HistoryTask = {
  id: '1',
  jobId: 1,
  index: null,
  epoch: 1,
  final: true,
  nodes: ['n1'],
  outcome: { kind: 'completed', exit: { code: 0 }, process: null, detail: null },
  startedAt: 10_000,
  endedAt: 12_050,
  userUs: 0,
  systemUs: 0,
  memoryPeakBytes: 0,
};
export const JOB: HistoryJob = {
  id: 1,
  name: 'w1',
  owner: 'root',
  partition: 'default',
  command: '',
  state: 'done',
  outcome: null,
  taskCount: 1,
  submittedAt: 0,
  startedAt: 10_000,
  runStartedAt: null,
  endedAt: 12_050,
  nodeCount: 1,
  cpuCount: 1,
  memoryBytes: 0,
  walltimeMs: null,
};

export function life(of: Partial<Life>): Life {
  const whole = { ...LIFE, ...of };
  return { ...whole, runs: of.runs ?? [{ from: whole.from, until: whole.until }] };
}

export interface Given extends Partial<Evidence> {
  readonly work?: Partial<Work>;
  readonly state?: string;
  readonly jobIds?: readonly number[];
}

export function evidence({
  work = {},
  state = 'done',
  jobIds = [1],
  ...more
}: Given = {}): Evidence {
  const of = { ...WORK, ...work };
  const job = {
    ...JOB,
    name: of.key,
    partition: of.partition,
    state,
    taskCount: of.arraySize ?? 1,
  };
  return {
    accepted: [{ work: of, jobIds, answeredAt: jobIds.map(() => 9000) }],
    jobs: [job],
    lives: [LIFE],
    tasks: [ROW],
    stops: [],
    stalls: [],
    outages: [],
    setAside: [],
    restores: [],
    clones: [],
    copies: [],
    kept: [],
    lacked: [],
    spied: null,
    slow: null,
    steps: null,
    calls: null,
    site: null,
    cpusPerHost: 4,
    killGraceMs: 500,
    ...more,
  };
}

export function rules(given: Given): Rule[] {
  return judge(evidence(given)).violations.map(({ rule }) => rule);
}
