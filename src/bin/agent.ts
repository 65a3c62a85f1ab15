// The agents' program: runs the agents of the nodes whose options files it is given.

import { runAgents } from './agent-host.ts';
import { readAgentOptions } from './agent-options.ts';
import { keep } from './keep.ts';

const nodes = readAgentOptions(process.argv.slice(2));
for (const options of nodes.slice(0, 1)) keep(options);
await runAgents(nodes);
process.exit(0);
