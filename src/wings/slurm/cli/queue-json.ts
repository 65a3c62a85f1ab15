// Jobs in the shape of Slurm's data parser (22.05), as far as there is something to say.

import { compressHosts } from '../core/hostlist.ts';
import { endedAs } from '../core/states.ts';
import { heldBy } from './held.ts';
import { askedFeatures, endOf, type JobRow, openDependencies, reasonOf } from './job-rows.ts';

export function queueJson(rows: readonly JobRow[]): object {
  return { meta: META, errors: [], jobs: rows.map(jobJson) };
}

export const META = {
  plugin: { type: 'openapi/v0.0.38', name: 'Slurm OpenAPI v0.0.38' },
  Slurm: { version: { major: 22, micro: 8, minor: 5 }, release: '22.05.8' },
};

const seconds = (at: number | null): number => (at === null ? 0 : Math.floor(at / 1000));

function jobJson(row: JobRow): object {
  const { id, job, index, state, startedAt, nodes } = row;
  const exit = endedAs(row.kind, row.exit).job;
  const { request } = job;
  const cpus = heldBy(row).cpuCount;
  const dependency = openDependencies(job);
  const isArray = job.array !== null;
  return {
    job_id: job.id,
    array_job_id: isArray ? job.id : 0,
    array_task_id: index,
    array_max_tasks: job.runningMax ?? 0,
    array_task_string: isArray && index === null ? (/\[(.*)\]/.exec(id)?.[1] ?? '') : '',
    name: job.name,
    user_name: job.owner,
    account: '',
    partition: job.partition,
    job_state: state.long,
    state_reason: reasonOf(row),
    state_description: '',
    nodes: compressHosts(nodes),
    batch_host: nodes[0] ?? '',
    batch_flag: true,
    required_nodes: request.nodeNames.join(','),
    features: askedFeatures(request.labels).join('&'),
    dependency: dependency === '(null)' ? '' : dependency,
    qos: job.qos ?? 'normal',
    comment: '',
    cluster: 'weft',
    node_count: request.nodeCount,
    cpus,
    job_resources: resourcesOf(nodes, cpus),
    memory_per_node: Math.floor(request.perNode.memoryBytes / 1_048_576),
    time_limit: job.walltimeMs === null ? null : Math.ceil(job.walltimeMs / 60_000),
    submit_time: seconds(job.submittedAt),
    start_time: seconds(startedAt),
    end_time: seconds(endOf(row)),
    priority: Math.max(0, Math.round(job.priority ?? 0)),
    hold: job.held,
    command: job.command,
    current_working_directory: job.directory ?? '',
    exit_code: exit.signal > 0 ? exit.signal : exit.code * 256,
  };
}

/** What it holds, where it holds something. */
function resourcesOf(nodes: readonly string[], cpus: number): object {
  if (nodes.length === 0) return {};
  return { nodes: compressHosts(nodes), allocated_cpus: cpus, allocated_hosts: nodes.length };
}
