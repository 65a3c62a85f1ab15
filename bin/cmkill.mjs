#!/usr/bin/env node
// Starts the program cmkill.

import { start } from './start.mjs';

await start('cmkill');
