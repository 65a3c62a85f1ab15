#!/usr/bin/env node
// Starts the program cmrun.

import { createRequire } from 'node:module';

await createRequire(import.meta.url)('./start.cjs').start('cmrun');
