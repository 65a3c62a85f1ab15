// The program `cmdaemon`, with the flags and defaults of the seed.

import { runSingle } from '../cli/main.ts';
import { summary, verb } from '../cli/seed/cmdaemon.ts';
import { finish, invocation } from './terminal.ts';

void finish(runSingle(invocation('cmdaemon'), summary, verb));
