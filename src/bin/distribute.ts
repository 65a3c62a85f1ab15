// The program `distribute`, with the commands, flags and defaults of the seed.

import { runVerbs } from '../kernel/cli/main.ts';
import { distribute } from '../wings/distribute/cli/distribute.ts';
import { finish, invocation } from './terminal.ts';
import '../wings.ts';

void finish(runVerbs(invocation('distribute'), distribute));
