// The program `cmconfigure`, with the flags and defaults of the seed.

import { runSingle } from '../cli/main.ts';
import { summary, verb } from '../cli/seed/cmconfigure.ts';
import { finish, invocation } from './terminal.ts';

void finish(runSingle(invocation('cmconfigure'), summary, verb));
