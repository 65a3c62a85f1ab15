// Figures for Prometheus. Counted when asked for: a cluster nobody watches pays nothing.

import { believed } from '../../../base/believed.ts';
import { ok } from '../../../base/result.ts';
import { waitingSize } from '../../../machine/jobs/behind.ts';
import { shownState } from '../../../machine/tasks/shown-state.ts';
import { jobState } from '../../answers/job-state.ts';
import { nodeState } from '../../answers/node-view.ts';
import { clusterResources, resourceFigures } from '../../answers/overview.ts';
import type { Handler } from '../call.ts';
import { DURATION_BOUNDS } from '../request-counts.ts';
import { gauge, type Scrape, value } from '../scrape.ts';
import type { Services } from '../services.ts';
import { countBy } from './cluster.ts';

export const metrics: Handler<'metrics'> = async (services, { response }) => {
  // Loaded at the first scrape, so that a head without one starts sooner.
  const prometheus = await import('prom-client');
  const scrape: Scrape = { prometheus, registry: new prometheus.Registry() };
  addCluster(services, scrape);
  addRequests(services, scrape);
  addProcess(services, scrape);
  const text = await scrape.registry.metrics();
  response.writeHead(200, { 'content-type': scrape.registry.contentType });
  response.end(text);
  return ok(null);
};

function addCluster(services: Services, scrape: Scrape): void {
  const { engine, blobs } = services;
  const { state } = engine;
  const jobs = countBy([...state.jobs.values()].map(jobState));
  gauge(scrape, 'weft_jobs', 'Jobs in memory by state.', 'state', jobs);
  const nodes = countBy([...state.nodes.values()].map(nodeState));
  gauge(scrape, 'weft_nodes', 'Nodes by state.', 'state', nodes);
  const tasks: Record<string, number> = { pending: 0 };
  for (const job of state.jobs.values()) {
    tasks['pending'] = (tasks['pending'] ?? 0) + waitingSize(job);
    for (const task of job.active.values()) {
      if (task.state === 'pending') continue;
      const shown = shownState(task);
      tasks[shown] = (tasks[shown] ?? 0) + 1;
    }
  }
  gauge(scrape, 'weft_tasks', 'Tasks that are not done, by state.', 'state', tasks);
  for (const [which, amounts] of Object.entries(resourceFigures(state))) {
    gauge(scrape, `weft_resources_${which}`, `On all nodes, ${which}.`, 'resource', amounts);
  }
  const counted = clusterResources(engine);
  for (const which of ['total', 'used'] as const) {
    const amounts = Object.fromEntries(counted.map((one) => [one.name, one[which]]));
    const help = `Counted resources of the whole cluster, ${which}.`;
    if (counted.length > 0)
      gauge(scrape, `weft_cluster_resources_${which}`, help, 'resource', amounts);
  }
  value(scrape, 'weft_jobs_submitted_total', 'Jobs ever accepted.', state.nextJobId - 1);
  value(scrape, 'weft_journal_seq', 'Sequence number of the last record.', engine.seq);
  for (const part of services.answerParts) part.measure?.(services, scrape);
  const writable = engine.failure === null && engine.shortage === null ? 1 : 0;
  value(scrape, 'weft_store_writable', '1 while the store can write.', writable);
  value(scrape, 'weft_blob_bytes', 'Disk that file contents take up.', blobs.bytes);
}

function addRequests({ counts }: Services, { prometheus, registry }: Scrape): void {
  const requests = new prometheus.Counter({
    name: 'weft_requests_total',
    help: 'Requests answered, by route and status.',
    labelNames: ['route', 'status'],
    registers: [registry],
  });
  for (const [route, { byStatus }] of counts.routes) {
    for (const [status, count] of byStatus) requests.inc({ route, status }, count);
  }
  // The registry only reads a metric's name and asks it for its values.
  registry.registerMetric(
    believed<Parameters<Scrape['registry']['registerMetric']>[0]>(durations(counts)),
  );
}

/** A histogram that was counted elsewhere; the library can only count by itself. */
function durations(counts: Services['counts']) {
  const name = 'weft_request_duration_seconds';
  const values: { metricName: string; labels: Record<string, string | number>; value: number }[] =
    [];
  for (const [route, { buckets, seconds }] of counts.routes) {
    let sum = 0;
    for (const [at, count] of buckets.entries()) {
      sum += count;
      const labels = { route, le: DURATION_BOUNDS[at] ?? '+Inf' };
      values.push({ metricName: `${name}_bucket`, labels, value: sum });
    }
    values.push({ metricName: `${name}_sum`, labels: { route }, value: seconds });
    values.push({ metricName: `${name}_count`, labels: { route }, value: sum });
  }
  const metric = { name, help: 'Time to the end of the answer.', type: 'histogram', values };
  return { ...metric, get: () => metric };
}

function addProcess({ engine }: Services, scrape: Scrape): void {
  const { user, system } = process.cpuUsage();
  value(scrape, 'process_cpu_seconds_total', 'CPU of the head.', (user + system) / 1e6);
  const resident = process.memoryUsage.rss();
  value(scrape, 'process_resident_memory_bytes', 'Memory of the head.', resident);
  const uptime = (engine.now() - engine.startedAt) / 1000;
  value(scrape, 'weft_uptime_seconds', 'Since the head started.', uptime);
}
