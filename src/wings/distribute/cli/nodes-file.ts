// The seed's distribute-nodes.yaml: which nodes a lab has. Here nodes join by themselves, so that
// it is read for names and capabilities only.

import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Context } from '../../../kernel/cli/context.ts';
import type { SeedNode } from '../../batches/batch/read/read-nodes.ts';
import { relative } from '../../batches/cli/operand.ts';

const NODES_FILE = 'distribute-nodes.yaml';
export const NODES_FILE_FLAGS = '--nodes-file <file>';
export const NODES_FILE_TEXT = `names and capabilities of nodes (default: ${NODES_FILE}, if it is here)`;

/** Empty without a file, unless one was named. */
export async function nodesOf(
  context: Context,
  given: string | undefined,
): Promise<readonly SeedNode[]> {
  const file = given ?? NODES_FILE;
  if (given === undefined && !existsSync(path.resolve(context.cwd, file))) return [];
  const { readSeedNodes } = await import('../../batches/batch/read/read-nodes.ts');
  return readSeedNodes(relative(context, file));
}
