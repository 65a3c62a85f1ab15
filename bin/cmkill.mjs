#!/usr/bin/env node
// Starts the program cmkill.

import { createRequire } from 'node:module';

await createRequire(import.meta.url)('./start.cjs').start('cmkill');
