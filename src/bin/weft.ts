// The program `weft`.

import { runWeft } from '../cli/main.ts';
import { finish, invocation } from './terminal.ts';

void finish(runWeft(invocation('weft')));
