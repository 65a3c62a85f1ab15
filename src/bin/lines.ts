// Lines of `weft` that other programs run in their place: in a package in a file of their own,
// which those load that run one.

import { buildProgram, type Invocation, runWeft } from '../kernel/cli/main.ts';
import { WINGS } from '../wings.ts';

/** The wings are those of this file: it has the commands that they bring. */
const here = (invocation: Invocation): Invocation => ({ ...invocation, wings: WINGS });

export const runLine = (invocation: Invocation): Promise<number> => runWeft(here(invocation));

export const commands = (invocation: Invocation, word: string) =>
  buildProgram(here(invocation), { exitCode: 0 }, { word });
