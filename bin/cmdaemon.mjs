#!/usr/bin/env node
// Starts the program cmdaemon.

import { createRequire } from 'node:module';

await createRequire(import.meta.url)('./start.cjs').start('cmdaemon');
