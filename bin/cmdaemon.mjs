#!/usr/bin/env node
// Starts the program cmdaemon.

import { start } from './start.mjs';

await start('cmdaemon');
