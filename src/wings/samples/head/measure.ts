// Figures of nodes and their gpus for Prometheus.

import { gauge, type Scrape, value } from '../../../kernel/head/http/scrape.ts';
import type { Services } from '../../../kernel/head/http/services.ts';

export function measure({ samples, idleGpus }: Services, scrape: Scrape): void {
  const cpus: Record<string, number> = {};
  const memory: Record<string, number> = {};
  const busy: Record<string, number> = {};
  const held: Record<string, number> = {};
  const drawn: Record<string, number> = {};
  const warm: Record<string, number> = {};
  for (const [name, { node, gpus }] of samples.latest()) {
    if (node !== null) {
      cpus[name] = node.cpuMilli / 1000;
      memory[name] = node.memoryBytes;
    }
    for (const { number, busyPercent, memoryBytes, watts, celsius } of gpus) {
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
  const idle =
    'Tasks whose gpus have been idle for longer than gpu_idle of their partition has it.';
  value(scrape, 'weft_gpu_idle_tasks', idle, idleGpus.count);
  value(scrape, 'weft_samples_bytes', 'Bytes of the file of samples.', samples.bytes);
  const heard = 'Samples that nodes have told since the head was started.';
  value(scrape, 'weft_samples_heard_total', heard, samples.samples);
}
