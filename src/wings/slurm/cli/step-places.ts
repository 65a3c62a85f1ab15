// Where a step runs within its job: it waits until it fits beside other steps that go on.

import type { Context } from '../../../kernel/cli/context.ts';
import { fileProblem } from '../../../kernel/config/file-problem.ts';
import { type Held, nodesFor, ranksOn } from '../core/step.ts';
import { Places } from './places.ts';
import type { StepRequest } from './step-request.ts';

/** Indices of nodes, held until the step has ended. */
interface Placed {
  readonly chosen: readonly number[];
  /** Cpus that it is given, on all its nodes. */
  readonly cpuCount: number;
  readonly release: () => void;
}

const LOOK_MS = 100;
const TOLD_AFTER = 10;

/** Waits until the step fits beside others of the job that go on. */
export async function placesFor(
  context: Context,
  {
    held,
    size,
    wish,
  }: {
    readonly held: Required<Held>;
    readonly size: { readonly used: number; readonly all: number };
    readonly wish: StepRequest;
  },
): Promise<Placed> {
  const { nodes, cpusPerNode: room } = held;
  const { environment } = context;
  const names = wish.names ?? null;
  const ask = { used: size.used, names };
  const cpusOn = (chosen: readonly number[]): ReadonlyMap<number, number> => {
    const wanted = new Map<number, number>();
    for (const { node } of ranksOn(chosen, size))
      wanted.set(node, Math.min(room, (wanted.get(node) ?? 0) + (wish.cpus ?? 1)));
    return wanted;
  };
  // One inside of another has the places of that one.
  const isInner = environment['SLURM_STEP_ID'] !== undefined;
  // Of this start of the task alone: clusters on one machine have jobs of the same numbers.
  const start = environment['WEFT_LAUNCH'] ?? environment['SLURM_JOB_ID'] ?? '';
  const places = wish.overlap || isInner ? null : Places.of(start, { nodes: nodes.length, room });
  if (places === null) {
    // One inside of another stays on its node where it can.
    const here = nodes.indexOf(environment['SLURMD_NODENAME'] ?? '');
    const chosen = nodesFor(nodes, ask, isInner ? nodes.map((_, at) => Number(at !== here)) : []);
    return { chosen, cpuCount: sumOf(cpusOn(chosen)), release: () => undefined };
  }
  for (let looks = 0; ; looks++) {
    const chosen = nodesFor(nodes, ask, places.taken());
    const wanted = cpusOn(chosen);
    const release = claimOr(context, places, wanted);
    if (release !== null) return { chosen, cpuCount: sumOf(wanted), release };
    if (looks === TOLD_AFTER) {
      const job = environment['SLURM_JOB_ID'] ?? '';
      context.error(
        `srun: Job ${job} step creation temporarily disabled, retrying (Requested nodes are busy)\n`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS * (0.5 + Math.random())));
  }
}

const sumOf = (counts: ReadonlyMap<number, number>): number =>
  [...counts.values()].reduce((sum, one) => sum + one, 0);

/** Where places cannot be written down the step begins, beside others or not. */
function claimOr(
  context: Context,
  places: Places,
  wanted: ReadonlyMap<number, number>,
): (() => void) | null {
  try {
    return places.claim(wanted);
  } catch (error) {
    context.error(`srun: the step waits for no other: ${fileProblem(error)}\n`);
    return () => undefined;
  }
}
