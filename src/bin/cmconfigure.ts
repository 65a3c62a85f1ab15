// The program `cmconfigure`, with the flags and defaults of the seed.

import { runSingle } from '../kernel/cli/main.ts';
import { summary, verb } from '../wings/cm/cli/cmconfigure.ts';
import { finish, invocation } from './terminal.ts';
import '../wings.ts';

void finish(runSingle(invocation('cmconfigure'), summary, verb));
