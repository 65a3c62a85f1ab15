#!/usr/bin/env node
// Starts the program weft.

import { createRequire } from 'node:module';

await createRequire(import.meta.url)('./start.cjs').start('weft');
