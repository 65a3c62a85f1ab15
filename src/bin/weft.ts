// The program `weft`.

import { runWeft } from '../kernel/cli/main.ts';
import { finish, invocation } from './terminal.ts';
import '../wings.ts';

void finish(runWeft(invocation('weft')));
