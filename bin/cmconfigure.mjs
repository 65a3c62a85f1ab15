#!/usr/bin/env node
// Starts the program cmconfigure.

import { start } from './start.mjs';

await start('cmconfigure');
