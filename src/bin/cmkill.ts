// The program `cmkill`, with the flags and defaults of the seed.

import { runSingle } from '../cli/main.ts';
import { summary, verb } from '../cli/seed/cmkill.ts';
import { finish, invocation } from './terminal.ts';

void finish(runSingle(invocation('cmkill'), summary, verb));
