// How the cluster of a chaos run is set up: its hosts, its partitions, and how patient it is.

import { plainPartition, plainScheduling } from '../../src/kernel/model/scheduling.ts';
import { QUICK, type Timing } from '../../test/e2e/support/hosted-cluster.ts';

/** Nodes of our own. */
export const HOSTS = 5;

const partitions = {
  default: { ...plainPartition('default'), preempt: 'suspend' as const },
  back: { ...plainPartition('back'), preempt: 'requeue' as const },
  urgent: { ...plainPartition('urgent'), tier: 1 },
};
const scheduling = { ...plainScheduling('easy'), partitions };
/** Nodes go down so often here that a task would be held for it, and wait for an operator. */
const crashLimit = 1000;
/** With it for what the head and its agents expect of each other. */
export const TIMING: Timing = {
  ...QUICK,
  settings: { ...QUICK.settings, crashLimit, scheduling },
};
