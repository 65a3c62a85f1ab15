// What a head does only when it is told to, at one start: each gives something up for good.

import type { Command } from 'commander';
import type { HeadOptions } from '../../config/daemon-options.ts';

export interface OnceOptions {
  readonly acceptLoss?: boolean;
  readonly newIdentity?: boolean;
}

export function defineOnceOptions(command: Command): void {
  command.option('--accept-loss', 'start although accepted jobs are missing from the store');
  command.option(
    '--new-identity',
    'make a new key and certificate in place of missing or damaged ones',
  );
}

/** For the head's options; nothing that was not asked for. */
export function onceOptions(of: OnceOptions): Pick<HeadOptions, 'acceptLoss' | 'newIdentity'> {
  return {
    ...(of.acceptLoss === true ? { acceptLoss: true } : {}),
    ...(of.newIdentity === true ? { newIdentity: true } : {}),
  };
}
