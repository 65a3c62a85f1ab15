#!/usr/bin/env node
// Starts the program distribute.

import { createRequire } from 'node:module';

await createRequire(import.meta.url)('./start.cjs').start('distribute');
