// What a step of `srun` is asked for.

import type { Programs } from '../core/multi-prog.ts';
import type { StepShape } from '../core/step.ts';
import type { Endings } from '../core/step-ending.ts';

/** A step as the options of `srun` say it. */
export interface StepRequest extends StepShape {
  readonly argv: readonly string[];
  readonly programs: Programs | null;
  readonly output: string | undefined;
  readonly error: string | undefined;
  readonly input: string | undefined;
  readonly append: boolean;
  readonly label: boolean;
  /** Absolute. */
  readonly directory: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Cpus of each rank; null: nobody says, and they are one. */
  readonly cpus: number | null;
  /** Beside other steps, whatever room there is. */
  readonly overlap: boolean;
  readonly endings: Endings;
  readonly bind: 'none' | 'core' | 'numa';
  /** Ranks of Open MPI: its `mpirun` starts them. */
  readonly isPmix: boolean;
  /** Gpus of each rank; null: all that its job has on the node. */
  readonly gpus: string | null;
  /** MiB on each node; null: nobody says. */
  readonly memory: number | null;
  /** MiB for each cpu in place of it; null: nobody says. */
  readonly memoryPerCpu: number | null;
}
