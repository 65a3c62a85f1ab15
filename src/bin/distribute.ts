// The program `distribute`, with the commands, flags and defaults of the seed.

import { distribute } from '../cli/distribute/distribute.ts';
import { runVerbs } from '../cli/main.ts';
import { finish, invocation } from './terminal.ts';

void finish(runVerbs(invocation('distribute'), distribute));
