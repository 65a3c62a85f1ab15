// The program `cminfo`, with the flags and defaults of the seed.

import { runSingle } from '../kernel/cli/main.ts';
import { summary, verb } from '../wings/cm/cli/cminfo.ts';
import { finish, invocation } from './terminal.ts';
import '../wings.ts';

void finish(runSingle(invocation('cminfo'), summary, verb));
