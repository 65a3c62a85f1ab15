#!/usr/bin/env node
// Starts the program cminfo.

import { createRequire } from 'node:module';

await createRequire(import.meta.url)('./start.cjs').start('cminfo');
