// Devices of a machine that tasks may be kept from.

/** A device by its numbers, `c195:0`. */
export type Device = `${'b' | 'c'}${number}:${number}`;

/** Whether devices can be shut to tasks. */
export interface Fence {
  readonly holds: boolean;
  /** What holds, or why nothing does. */
  readonly words: string;
}

/** Whether tasks are kept from the gpus of others, in words. */
export function fenceWords({ holds, words }: Fence): string {
  return holds
    ? `tasks open no gpus but their own (${words})`
    : `none: tasks may open all gpus (${words})`;
}
