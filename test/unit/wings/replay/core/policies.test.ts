// Small workloads whose schedules can be worked out with a pencil, for every policy. Sources of the
// situations: D. Lifka, The ANL/IBM SP scheduling system (1995), for backfilling by a shadow time;
// A. Mu'alem, D. Feitelson, Utilization, predictability, workloads, and user runtime estimates in
// scheduling the IBM SP2 with backfilling (2001), for conservative beside EASY.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Policy } from '../../../../../src/kernel/model/scheduling.ts';
import type { Machine } from '../../../../../src/wings/replay/core/machine.ts';
import {
  pool,
  replayBy,
  startsText,
  type WorkloadWords,
  workload,
} from '../../../../support/workloads.ts';

interface Case {
  readonly title: string;
  readonly machine: Machine;
  /** `name submit size run [estimate [memory per processor]]`, in seconds and bytes. */
  readonly jobs: readonly string[];
  readonly fifo: string;
  readonly firstFit: string;
  readonly easy: string;
  /** Absent: as under easy. */
  readonly conservative?: string;
}

const CASES: readonly Case[] = [
  {
    title: 'an end makes room for an arrival of the same instant',
    machine: pool(4),
    jobs: ['A 0 4 5', 'B 5 4 5'],
    fifo: 'A0 B5',
    firstFit: 'A0 B5',
    easy: 'A0 B5',
  },
  {
    // One processor is idle until A ends at 10. C ends exactly then; D would not have room before.
    title: 'Lifka: who ends by the shadow time goes ahead',
    machine: pool(4),
    jobs: ['A 0 3 10', 'B 1 4 5', 'C 2 1 8', 'D 3 1 8'],
    fifo: 'A0 B10 C15 D15',
    firstFit: 'A0 B10 C2 D15',
    easy: 'A0 B10 C2 D15',
  },
  {
    // C would hold its processor until 11, and B needs all four: only first fit lets it.
    title: 'Lifka: who would delay the first that waits does not go ahead',
    machine: pool(4),
    jobs: ['A 0 3 10', 'B 1 4 5', 'C 2 1 9'],
    fifo: 'A0 B10 C15',
    firstFit: 'A0 B11 C2',
    easy: 'A0 B10 C15',
  },
  {
    // At the shadow time 10 four are free and B takes three: one is extra, for as long as C likes.
    title: 'Lifka: who takes only extra processors goes ahead however long',
    machine: pool(4),
    jobs: ['A 0 3 10', 'B 1 3 5', 'C 2 1 100'],
    fifo: 'A0 B10 C10',
    firstFit: 'A0 B10 C2',
    easy: 'A0 B10 C2',
  },
  {
    // Two are idle, and one of them is extra at the shadow time 10: for C, not for D as well.
    title: 'Lifka: extra processors are given once',
    machine: pool(4),
    jobs: ['A 0 2 10', 'B 1 3 5', 'C 2 1 100', 'D 3 1 100'],
    fifo: 'A0 B10 C10 D15',
    firstFit: 'A0 B102 C2 D3',
    easy: 'A0 B10 C2 D15',
  },
  {
    // D takes the processor that B leaves over, until 33. EASY promised nothing to C, which needs
    // all four; conservative promised it the time from 20 to 30.
    title: "Mu'alem and Feitelson: easy may delay the second that waits, conservative does not",
    machine: pool(4),
    jobs: ['A 0 2 10', 'B 1 3 10', 'C 2 4 10', 'D 3 1 30'],
    fifo: 'A0 B10 C20 D30',
    firstFit: 'A0 B10 C33 D3',
    easy: 'A0 B10 C33 D3',
    conservative: 'A0 B10 C20 D30',
  },
  {
    // The gap beside A lasts until 10, when B takes all: C fits in, then E, never D.
    title: "Mu'alem and Feitelson: a gap of the profile is given to who is short enough for it",
    machine: pool(4),
    jobs: ['A 0 2 10', 'B 1 4 5', 'C 2 2 5', 'D 3 2 7', 'E 4 2 3'],
    fifo: 'A0 B10 C15 D15 E20',
    firstFit: 'A0 B14 C2 D7 E10',
    easy: 'A0 B10 C2 D15 E7',
  },
  {
    // A was to end at 10 and ends at 4; C's estimate kept it back though it would have been over.
    title: "Mu'alem and Feitelson: estimates decide, and an early end moves what waits forward",
    machine: pool(4),
    jobs: ['A 0 3 4 10', 'B 1 4 5', 'C 2 1 2 9'],
    fifo: 'A0 B4 C9',
    firstFit: 'A0 B4 C2',
    easy: 'A0 B4 C9',
  },
  {
    // A leaves one cpu of n1, B one of n2. C will get n1 at 10, so D must take n2, where it is in
    // nobody's way, and E must wait, though its cpu of n1 is idle until 10.
    title: 'nodes, not only their sum: the idle cpu of a promised node stays idle',
    machine: { nodeCount: 2, cpusPerNode: 4, memoryBytesPerNode: null },
    jobs: ['A 0 3 10', 'B 0 3 20', 'C 1 4 5', 'D 2 1 100', 'E 3 1 100'],
    fifo: 'A0 B0 C10 D10 E15',
    firstFit: 'A0 B0 C102 D2 E3',
    easy: 'A0 B0 C10 D2 E15',
  },
  {
    // B waits for memory until 10. Then B, C and D have all four cpus: nothing is extra for E.
    title: 'each resource counts: memory blocks one, cpus the other',
    machine: { nodeCount: 1, cpusPerNode: 4, memoryBytesPerNode: 4 },
    jobs: ['A 0 1 10 10 3', 'B 1 2 5 5 1', 'C 2 1 100 100 1', 'D 3 1 100', 'E 4 1 100'],
    fifo: 'A0 B10 C10 D10 E15',
    firstFit: 'A0 B102 C2 D3 E4',
    easy: 'A0 B10 C2 D3 E15',
  },
];

for (const { title, machine, jobs: texts, fifo, firstFit, easy, conservative = easy } of CASES) {
  const jobs = workload(texts.map(wordsOf), machine);
  const expected = { fifo, first_fit: firstFit, easy, conservative };
  for (const [policy, starts] of Object.entries(expected)) {
    test(`${title}: ${policy}`, () => {
      assert.equal(startsText(replayBy(policy as Policy, jobs, machine)), starts);
    });
  }
}

function wordsOf(text: string): WorkloadWords {
  const [id = '', ...rest] = text.split(' ');
  const [submit = 0, size = 0, run = 0, estimate = run, memory = 0] = rest.map(Number);
  return { id, submit, size, run, estimate, memory };
}
