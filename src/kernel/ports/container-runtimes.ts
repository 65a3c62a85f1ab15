// What this machine can run containers with.

import type { ContainerRuntime } from '../model/container-runtime.ts';

export type { ContainerRuntime };

/** Variables that a program finds its runtimes by. */
export interface Whereabouts {
  readonly PATH: string;
  readonly HOME: string;
}
