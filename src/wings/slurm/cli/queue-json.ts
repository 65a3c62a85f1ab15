// Jobs in the shape of Slurm's data parser (22.05), as far as there is something to say.

import type { JobRow } from './job-rows.ts';

export function queueJson(rows: readonly JobRow[]): object {
  return { meta: META, errors: [], jobs: rows.map(jobJson) };
}

export const META = {
  plugin: { type: 'openapi/v0.0.38', name: 'Slurm OpenAPI v0.0.38' },
  Slurm: { version: { major: 22, micro: 8, minor: 5 }, release: '22.05.8' },
};

const seconds = (at: number | null): number => (at === null ? 0 : Math.floor(at / 1000));

function jobJson({ job, index, state, startedAt, endedAt, nodes, where, exit }: JobRow): object {
  const { request } = job;
  const isArray = job.array !== null;
  return {
    job_id: job.id,
    array_job_id: isArray ? job.id : 0,
    array_task_id: index,
    array_task_string: isArray && index === null ? (/\[(.*)\]/.exec(where)?.[1] ?? job.array) : '',
    name: job.name,
    user_name: job.owner,
    account: '',
    partition: job.partition,
    job_state: state.long,
    state_reason: where.startsWith('(') ? where.slice(1, -1) : 'None',
    nodes: nodes.length === 0 ? '' : where,
    node_count: request.nodeCount,
    cpus: request.nodeCount * request.perNode.cpuCount,
    memory_per_node: Math.floor(request.perNode.memoryBytes / 1_048_576),
    time_limit: job.walltimeMs === null ? null : Math.ceil(job.walltimeMs / 60_000),
    submit_time: seconds(job.submittedAt),
    start_time: seconds(startedAt),
    end_time: seconds(endedAt),
    priority: Math.max(0, Math.round(job.priority ?? 0)),
    hold: job.held,
    command: job.command,
    current_working_directory: job.directory ?? '',
    exit_code: exit.signal > 0 ? exit.signal : exit.code * 256,
  };
}
