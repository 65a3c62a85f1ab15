// Where the processes of the tests keep what they have compiled.

import path from 'node:path';
import { ROOT } from '../tree.ts';

/**
 * Variables of every process: they load the same modules, and compile what they share once, also
 * where the repository is mounted elsewhere.
 */
export const COMPILED_ONCE = {
  NODE_COMPILE_CACHE: path.join(ROOT, 'node_modules', '.cache', 'compiled'),
  NODE_COMPILE_CACHE_PORTABLE: '1',
} as const;
