// `weft agent`: the agent of a node that joined, in the foreground, for a service manager.

import path from 'node:path';
import { cacheOptions, pathOptions } from '../../config/cache-options.ts';
import type { Config } from '../../config/config.ts';
import type { AgentOptions } from '../../config/daemon-options.ts';
import { healthOptions } from '../../config/health-options.ts';
import { agentOptionsOf, type OptionsPart, optionsOf } from '../../config/part.ts';
import { numbersFrom } from '../../config/scheduling.ts';
import { readLiveMark, removeMark, writeMark } from '../../connect/process-file.ts';
import { usage } from '../../model/failure.ts';
import type { Resources } from '../../model/resources.ts';
import type { Context } from '../context.ts';
import { agentFailure, agentRuns } from '../daemons/agent-failure.ts';
import { LocalPaths, readJson } from '../daemons/local-paths.ts';
import { otherNameWords } from '../daemons/other-name.ts';
import { defineVerb } from '../verb.ts';
import type { Membership } from './join.ts';

interface Options {
  readonly logFile?: string;
  readonly leave?: boolean;
}

export const verb = defineVerb<Options>({
  define(command) {
    command.option('--log-file <file>', 'log there, not to standard error');
    command.option('--leave', 'end the tasks of the node when the agent is stopped');
  },
  run: ({ context, options }) => runAgent(context, options),
});

/** Runs until a signal stops it. What the node runs goes on and is adopted by the next agent. */
export async function runAgent(context: Context, options: Options): Promise<number> {
  const config = await context.config();
  const paths = new LocalPaths(context.directory);
  const membership = readJson<Membership>(paths.membership);
  if (membership === null) {
    const hint = 'Get a token on the head with `weft token join`, then `weft join` here.';
    throw usage(`this machine has not joined a cluster (no ${paths.membership})`, hint);
  }
  const { name } = membership;
  const mark = paths.mark(name);
  const other = readLiveMark(mark);
  if (other !== null) throw agentRuns(name, `${other.pid}`);
  try {
    paths.make('shared');
    writeMark(mark, process.pid);
    const parts = await optionsOf(context.wings);
    const of = { membership, paths, options, context, parts };
    await context.programs.runAgent(agentOptions(config, of));
  } catch (error) {
    throw agentFailure(name, error) ?? error;
  } finally {
    removeMark(mark);
  }
  return 0;
}

function agentOptions(
  config: Config,
  of: {
    membership: Membership;
    paths: LocalPaths;
    options: Options;
    context: Context;
    parts: readonly OptionsPart[];
  },
): AgentOptions {
  const { membership, paths, options, context, parts } = of;
  const { name, url, others = [], fingerprint, secret } = membership;
  const wish = config.text('node.switch_user');
  const otherName = otherNameWords(config, name);
  return {
    name,
    ...(otherName === null ? {} : { otherName }),
    stateDir: paths.node(name),
    head: { url, fingerprint, ...(others.length === 0 ? {} : { others }) },
    secret,
    spoolBytesMax: config.number('node.spool_limit'),
    labels: config.texts('node.labels'),
    sharedPaths: config.texts('node.shared'),
    switchUser: wish === 'auto' ? 'auto' : wish === 'true',
    resources: declaredResources(config),
    ...healthOptions(config),
    ...cacheOptions(config),
    ...pathOptions(config),
    ...agentOptionsOf(parts, config, { door: paths.door(name), isJoined: true }),
    ...(options.leave ? { leaves: true as const } : {}),
    ...(options.logFile === undefined
      ? {}
      : { logFile: path.resolve(context.cwd, options.logFile) }),
  };
}

/** What is not configured the agent finds out: what affinity, cgroup and drivers leave it. */
function declaredResources(config: Config): Partial<Resources> {
  const cpuCount = config.optionalNumber('node.cpus');
  const memoryBytes = config.optionalNumber('node.memory');
  const gpuCount = config.optionalNumber('node.gpus');
  const counted = numbersFrom(config, 'node.resources');
  return {
    ...(cpuCount === null ? {} : { cpuCount }),
    ...(memoryBytes === null ? {} : { memoryBytes }),
    ...(gpuCount === null ? {} : { gpuCount }),
    ...(counted === null ? {} : { counted }),
  };
}
