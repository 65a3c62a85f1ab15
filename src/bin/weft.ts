// The program `weft`.

import { runWeft } from '../cli/main.ts';
import { finish, invocation } from './terminal.ts';

await finish(runWeft(invocation('weft')));
