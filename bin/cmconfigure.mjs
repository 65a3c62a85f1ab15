#!/usr/bin/env node
// Starts the program cmconfigure.

import { createRequire } from 'node:module';

await createRequire(import.meta.url)('./start.cjs').start('cmconfigure');
