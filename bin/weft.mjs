#!/usr/bin/env node
// Starts the program weft.

import { start } from './start.mjs';

await start('weft');
