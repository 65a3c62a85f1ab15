#!/usr/bin/env node
// Starts the program cmrun.

import { start } from './start.mjs';

await start('cmrun');
