// Looks how a machine is set up for cards of NVIDIA, by files and by which programs there are.

import type { NvidiaCard } from '../../core/nvidia/csv.ts';
import type { MachineSetUp } from '../../core/nvidia/set-up.ts';
import type { MachineView, Tool } from '../../ports/machine-view.ts';

/** Where specifications of devices for containers are looked for (CDI). */
const SPECIFICATIONS = ['/etc/cdi', '/var/run/cdi'];
const SPECIFICATIONS_MAX = 8;
/** Where MPS has its pipes unless it is told otherwise. */
const MPS_PID = '/tmp/nvidia-mps/nvidia-cuda-mps-control.pid';

export class NvidiaSetUp {
  readonly #machine: MachineView;
  readonly #docker: Tool;
  readonly #podman: Tool;
  readonly #toolkit: readonly Tool[];

  constructor(machine: MachineView) {
    this.#machine = machine;
    this.#docker = machine.tool('docker');
    this.#podman = machine.tool('podman');
    this.#toolkit = ['nvidia-container-runtime-hook', 'nvidia-ctk'].map(machine.tool);
  }

  look(driver: string | null, seen: readonly NvidiaCard[]): MachineSetUp {
    return {
      driver,
      cards: seen.map(({ card: { index }, persistence, compute }) => {
        return { index, persistence, compute };
      }),
      hasMps: this.#hasMps(),
      hasDocker: this.#docker.isThere,
      hasPodman: this.#podman.isThere,
      hasToolkit: this.#toolkit.some(({ isThere }) => isThere),
      specifications: this.#specifications(),
    };
  }

  /** A file that its daemon has left behind says nothing. */
  #hasMps(): boolean {
    const pid = this.#machine.read(MPS_PID)?.trim() ?? '';
    if (!/^\d{1,9}$/.test(pid)) return false;
    return this.#machine.read(`/proc/${pid}/comm`)?.startsWith('nvidia-cuda-mps') === true;
  }

  #specifications(): ReadonlyMap<string, string> {
    const { namesIn, read } = this.#machine;
    const paths = SPECIFICATIONS.flatMap((folder) => {
      return namesIn(folder).flatMap((name) =>
        /\.(ya?ml|json)$/.test(name) ? [`${folder}/${name}`] : [],
      );
    });
    return new Map(
      paths.slice(0, SPECIFICATIONS_MAX).flatMap((path) => {
        const text = read(path);
        return text === null ? [] : [[path, text] as const];
      }),
    );
  }
}
