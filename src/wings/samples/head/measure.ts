// Figures of nodes and their gpus for Prometheus.

import { gauge, type Scrape, value } from '../../../kernel/head/http/scrape.ts';
import type { Services } from '../../../kernel/head/http/services.ts';
import type { NodeFlow } from '../model/look.ts';

const FLOWS = ['readRate', 'writtenRate', 'receivedRate', 'sentRate'] as const;
const FLOW_GAUGES = {
  readRate: ['weft_node_disk_read_rate', 'Bytes a second read from disks, at the last look.'],
  writtenRate: ['weft_node_disk_written_rate', 'Bytes a second written to disks.'],
  receivedRate: ['weft_node_network_received_rate', 'Bytes a second received over networks.'],
  sentRate: ['weft_node_network_sent_rate', 'Bytes a second sent over networks.'],
} as const;

export function measure({ samples, idleGpus }: Services, scrape: Scrape): void {
  const cpus: Record<string, number> = {};
  const memory: Record<string, number> = {};
  const busy: Record<string, number> = {};
  const held: Record<string, number> = {};
  const drawn: Record<string, number> = {};
  const warm: Record<string, number> = {};
  const slowed: Record<string, number> = {};
  const corrected: Record<string, number> = {};
  const flows: { readonly [name in keyof NodeFlow]: Record<string, number> } = {
    readRate: {},
    writtenRate: {},
    receivedRate: {},
    sentRate: {},
  };
  for (const [name, { node, gpus }] of samples.latest()) {
    if (node !== null) {
      cpus[name] = node.cpuMilli / 1000;
      memory[name] = node.memoryBytes;
      for (const key of FLOWS) if (node.flow !== undefined) flows[key][name] = node.flow[key];
    }
    for (const gpu of gpus) {
      const { number, busyPercent, memoryBytes, watts, celsius, slowedBy, correctedErrors } = gpu;
      if (correctedErrors !== undefined) corrected[`${name}/${number}`] = correctedErrors;
      if (slowedBy !== undefined) slowed[`${name}/${number}`] = slowedBy === null ? 0 : 1;
      if (watts !== undefined) drawn[`${name}/${number}`] = watts;
      if (celsius !== undefined) warm[`${name}/${number}`] = celsius;
      busy[`${name}/${number}`] = busyPercent;
      held[`${name}/${number}`] = memoryBytes;
    }
  }
  const whole = "of the node's machine, whoever uses them, at the last look.";
  gauge(scrape, 'weft_node_cpus_used', `Cpus in use ${whole}`, 'node', cpus);
  gauge(scrape, 'weft_node_memory_used_bytes', `Bytes of memory in use ${whole}`, 'node', memory);
  const util = 'Percent of time in which a gpu worked, at the last look.';
  gauge(scrape, 'weft_gpu_util', util, 'gpu', busy);
  const used = 'Bytes of the memory of a gpu in use, at the last look.';
  gauge(scrape, 'weft_gpu_fb_used_bytes', used, 'gpu', held);
  const watts = 'Watts that a gpu draws, at the last look.';
  gauge(scrape, 'weft_gpu_power_usage_watts', watts, 'gpu', drawn);
  const celsius = 'Temperature of a gpu in degrees Celsius, at the last look.';
  gauge(scrape, 'weft_gpu_temp_celsius', celsius, 'gpu', warm);
  const slow = 'Whether heat, power or hardware kept a gpu slow at the last look.';
  gauge(scrape, 'weft_gpu_slowed', slow, 'gpu', slowed);
  const errors = 'Errors of its memory that a gpu has corrected since its driver was loaded.';
  gauge(scrape, 'weft_gpu_ecc_sbe_volatile', errors, 'gpu', corrected);
  for (const key of FLOWS) {
    const [title, words] = FLOW_GAUGES[key];
    gauge(scrape, title, words, 'node', flows[key]);
  }
  const idle =
    'Tasks whose gpus have been idle for longer than gpu_idle of their partition has it.';
  value(scrape, 'weft_gpu_idle_tasks', idle, idleGpus.count);
  value(scrape, 'weft_samples_bytes', 'Bytes of the file of samples.', samples.bytes);
  const heard = 'Samples that nodes have told since the head was started.';
  value(scrape, 'weft_samples_heard_total', heard, samples.samples);
}
