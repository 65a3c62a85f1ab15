#!/usr/bin/env node
// Starts a program that speaks Slurm: its name comes first. What follows is its own, word for word, so
// nothing of it is taken for an option of ours.

import { createRequire } from 'node:module';

const [name = '', ...words] = process.argv.splice(2);
process.argv.push('--', ...words);
await createRequire(import.meta.url)('./start.cjs').start(name);
