#!/usr/bin/env node
// For folders that an earlier release has made: see slurm-front.cjs.

import { createRequire } from 'node:module';

await createRequire(import.meta.url)('./slurm-front.cjs');
