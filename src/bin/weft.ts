// The program `weft`.

import { runWeft } from '../kernel/cli/main.ts';
import { finish, invocation } from './terminal.ts';

void finish(runWeft(invocation('weft')));
