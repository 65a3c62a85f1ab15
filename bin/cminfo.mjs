#!/usr/bin/env node
// Starts the program cminfo.

import { start } from './start.mjs';

await start('cminfo');
