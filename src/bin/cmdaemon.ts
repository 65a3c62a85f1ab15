// The program `cmdaemon`, with the flags and defaults of the seed.

import { runSingle } from '../kernel/cli/main.ts';
import { summary, verb } from '../wings/cm/cli/cmdaemon.ts';
import { finish, invocation } from './terminal.ts';
import '../wings.ts';

void finish(runSingle(invocation('cmdaemon'), summary, verb));
