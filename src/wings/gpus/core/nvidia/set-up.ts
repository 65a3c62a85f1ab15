// How a machine is set up for cards of NVIDIA: what an administrator might change about it.

import { plural } from '../../../../kernel/base/plural.ts';

/** What one row of `--query-gpu` says of it. */
export interface CardModes {
  readonly index: number | null;
  readonly persistence: string;
  readonly compute: string;
}

export interface MachineSetUp {
  readonly driver: string | null;
  readonly cards: readonly CardModes[];
  /** The daemon of MPS runs. */
  readonly hasMps: boolean;
  readonly hasDocker: boolean;
  readonly hasPodman: boolean;
  /** The toolkit by which docker gives cards to containers. */
  readonly hasToolkit: boolean;
  /** Texts of the specifications of devices for containers (CDI), by path. */
  readonly specifications: ReadonlyMap<string, string>;
}

const GENERATE = 'nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml';

/** In words; empty: nothing. */
export function setUpNotes(machine: MachineSetUp): string[] {
  return [...modeNotes(machine), ...containerNotes(machine)];
}

function modeNotes({ cards, hasMps }: MachineSetUp): string[] {
  const notes: string[] = [];
  const loose = cards.filter(({ persistence }) => persistence === 'Disabled');
  if (loose.length > 0) {
    const which = loose.length === cards.length ? '' : ` of ${plural(loose.length, 'gpu')}`;
    notes.push(
      `persistence mode${which} is off: a card that nobody uses takes seconds to answer (run nvidia-persistenced, or nvidia-smi -pm 1)`,
    );
  }
  const single = cards.filter(({ compute }) => compute === 'Exclusive_Process');
  if (single.length > 0 && !hasMps) {
    const names = single.map(({ index }) => index).join(', ');
    notes.push(
      `compute mode of gpu ${names} is Exclusive_Process, and no MPS runs: tasks that share one fail (nvidia-smi -c DEFAULT, or nvidia-cuda-mps-control -d)`,
    );
  }
  return notes;
}

function containerNotes(machine: MachineSetUp): string[] {
  const { driver, hasDocker, hasPodman, hasToolkit, specifications } = machine;
  const notes: string[] = [];
  const ours = [...specifications].filter(([, text]) => text.includes('nvidia.com/gpu'));
  if (hasDocker && !hasToolkit)
    notes.push('docker gives containers no gpus: there is no nvidia-container-toolkit');
  if (hasPodman && ours.length === 0)
    notes.push(`podman gives containers no gpus: there is no CDI specification (${GENERATE})`);
  for (const [path, text] of ours) {
    const version = /libcuda\.so\.(\d+\.\d[\d.]*\d)/.exec(text)?.[1];
    if (version === undefined || driver === null || version === driver) continue;
    notes.push(
      `${path} is of driver ${version}, and ${driver} is loaded: containers may not start (${GENERATE})`,
    );
  }
  return notes;
}

/** The version of CUDA that `nvidia-smi --version` tells; null: it does not. */
export function cudaVersionIn(text: string): string | null {
  return /^CUDA Version *: *(\d{1,3}\.\d{1,3})\s*$/im.exec(text)?.[1] ?? null;
}

/** `580.95.05 (CUDA 13.0, MPS runs)`. */
export function driverWords(
  driver: string,
  cuda: string | null,
  { hasMps }: Pick<MachineSetUp, 'hasMps'>,
): string {
  const more = [...(cuda === null ? [] : [`CUDA ${cuda}`]), ...(hasMps ? ['MPS runs'] : [])];
  return more.length === 0 ? driver : `${driver} (${more.join(', ')})`;
}
