// A stand-in for the agents' program: lives until it is told to end everything.

import { readAgentOptions } from '../../../../../src/bin/agent-options.ts';

for (const { name, secret } of readAgentOptions(process.argv.slice(2))) {
  if (secret !== `secret of ${name}`) throw new Error('this is not the secret of the node');
}
const alive = setInterval(() => undefined, 60_000);
process.on('SIGUSR2', () => clearInterval(alive));
