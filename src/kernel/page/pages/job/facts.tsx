// What a job asked for and what it used, in two columns of words.

import type { ComponentChildren } from 'preact';
import type { JobDetail } from '../../../api/jobs.ts';
import { formatDuration } from '../../../base/duration.ts';
import { keptTitles } from '../../../model/options/kept.ts';
import { labelsForPeople } from '../../../model/own-labels.ts';
import { gpuWords } from '../../../model/request-words.ts';
import { hrefOf } from '../../data/route.ts';
import { Panel, Time } from '../../parts/basic.tsx';
import { sizeWords, some, spanWords } from '../../pure/words.ts';

type Row = readonly [string, ComponentChildren];

/** `wide`: nothing stands beside it. */
export function Facts({ job, wide }: { job: JobDetail; wide: boolean }) {
  const rows = [...asked(job), ...used(job)].filter(([, value]) => !isEmpty(value));
  return (
    <Panel title="Request and use" wide={wide}>
      <dl>
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Script job={job} />
    </Panel>
  );
}

function isEmpty(value: ComponentChildren): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

function asked(job: JobDetail): Row[] {
  const { request } = job;
  const { cpuCount, memoryBytes, gpuCount, counted } = request.perNode;
  const per = [
    some(cpuCount, 'cpu'),
    `${sizeWords(memoryBytes)} memory`,
    gpuCount > 0 ? gpuWords(request.perNode) : '',
    ...Object.entries(counted).map(([name, count]) => `${count} ${name}`),
  ];
  const once = Object.entries(request.ofCluster ?? {}).map(([name, count]) => `${count} ${name}`);
  return [
    ['Command', <code key="c">{job.command}</code>],
    ['Asks for', `${some(request.nodeCount, 'node')} with ${per.filter(Boolean).join(', ')}`],
    ['Of the cluster', once.join(', ')],
    ['Whole nodes', request.exclusive ? 'yes' : ''],
    ['Labels', labelsForPeople(request.labels).join(', ')],
    ['Only on', request.nodeNames.join(', ')],
    ['Time limit', job.walltimeMs === null ? 'none' : formatDuration(job.walltimeMs)],
    ['Partition', job.partition],
    ['Quality of service', job.qos],
    ['Directory', job.directory ?? 'one of its own on the node'],
    ['Waits for', job.waitsFor.length === 0 ? '' : job.waitsFor.map(jobLink)],
    ['Not before', job.beginAt === null ? '' : <Time key="b" at={job.beginAt} />],
    ['On node loss', job.onNodeLoss.kind],
    ['Retries', job.retriesMax === 0 ? '' : String(job.retriesMax)],
    ...keptTitles(job),
    ['Runs again', job.retryOf === null ? '' : jobLink(job.retryOf, 0)],
    ['Nodes', job.nodes.map(nodeLink)],
  ];
}

function used({ usage, memoryNow, array, request }: JobDetail): Row[] {
  const cpuMs = (usage.userUs + usage.systemUs) / 1000;
  // A peak is that of one task on one node, as the limit is.
  const isOne = array === null && request.nodeCount === 1;
  const [inAll, ofOne] = isOne ? ['', ''] : [', in all', ', of one task on one node'];
  return [
    ['Cpu time', cpuMs === 0 ? '' : spanWords(cpuMs)],
    [`Memory now${inAll}`, memoryNow == null ? '' : sizeWords(memoryNow.bytes)],
    [`Peak of memory so far${ofOne}`, memoryNow == null ? '' : sizeWords(memoryNow.peakBytes)],
    [`Peak of memory${ofOne}`, usage.memoryPeakBytes === 0 ? '' : sizeWords(usage.memoryPeakBytes)],
  ];
}

function jobLink(id: number, at: number) {
  return (
    <span key={id}>
      {at === 0 ? '' : ', '}
      <a href={hrefOf(['jobs', id])}>{id}</a>
    </span>
  );
}

function nodeLink(name: string, at: number) {
  return (
    <span key={name}>
      {at === 0 ? '' : ', '}
      <a href={hrefOf(['nodes', name])}>{name}</a>
    </span>
  );
}

function Script({ job }: { job: JobDetail }) {
  const program = job.program as { kind: string; text?: string };
  if (program.kind !== 'script' || !program.text) return null;
  return (
    <details>
      <summary>Script</summary>
      <pre>{program.text}</pre>
    </details>
  );
}
