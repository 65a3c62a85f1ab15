// The machine as drivers show it: their tools, the kernel's files, and whose processes there are.

import type { Device } from '../../../kernel/model/device.ts';
import type { ProcessOwner } from '../model/answer.ts';

export type { Device, ProcessOwner };

export type Said =
  | { readonly kind: 'said'; readonly code: number | null; readonly text: string }
  /** Why it said nothing that counts. */
  | { readonly kind: 'mute'; readonly words: string };

/** A driver's tool. It takes bounded time, and is not run again while it hangs. */
export interface Tool {
  readonly isThere: boolean;
  /** Never rejects. */
  run(...args: readonly string[]): Promise<Said>;
}

export interface MachineView {
  tool(program: string): Tool;
  /** Which device a file is; null: none, or it cannot be seen. */
  device(path: string): Device | null;
  /** Text of a small file; null: it cannot be read. */
  read(path: string): string | null;
  /**
   * What the kernel has logged since it was asked last; none where this program may not read it.
   */
  kernelLog(): readonly string[];
  /** Names in a folder; none where there is no such folder. */
  namesIn(folder: string): readonly string[];
  /**
   * Whose these processes are; one that cannot be seen is missing. `instances`: the names of this
   * program's agents.
   */
  owners(
    pids: readonly number[],
    instances: ReadonlySet<string>,
  ): ReadonlyMap<number, ProcessOwner>;
  /** Drivers tell other numbers of processes than this program sees. */
  readonly isContained: boolean;
}

/** Empty: it said nothing that counts. */
export function textOf(said: Said): string {
  return said.kind === 'said' ? said.text : '';
}
