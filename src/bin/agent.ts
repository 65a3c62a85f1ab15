// The agents' program: runs the agents of the nodes whose options files it is given.

import { runAgents } from './agent-host.ts';
import { readAgentOptions } from './agent-options.ts';
import { keep } from './keep.ts';

const nodes = readAgentOptions(process.argv.slice(2));
const [first] = nodes;
const onHeadLost = first === undefined ? undefined : keep(first);
await runAgents(nodes, onHeadLost);
process.exit(0);
