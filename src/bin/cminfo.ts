// The program `cminfo`, with the flags and defaults of the seed.

import { runSingle } from '../cli/main.ts';
import { summary, verb } from '../cli/seed/cminfo.ts';
import { finish, invocation } from './terminal.ts';

void finish(runSingle(invocation('cminfo'), summary, verb));
