// Figures of nodes for Prometheus.

import { gauge, type Scrape, value } from '../../../kernel/head/http/scrape.ts';
import type { Services } from '../../../kernel/head/http/services.ts';

export function measure({ samples }: Services, scrape: Scrape): void {
  const latest = [...samples.latest()];
  const cpus = Object.fromEntries(latest.map(([name, { cpuMilli }]) => [name, cpuMilli / 1000]));
  const memory = Object.fromEntries(latest.map(([name, { memoryBytes }]) => [name, memoryBytes]));
  const whole = "of the node's machine, whoever uses them, at the last look.";
  gauge(scrape, 'weft_node_cpus_used', `Cpus in use ${whole}`, 'node', cpus);
  gauge(scrape, 'weft_node_memory_used_bytes', `Bytes of memory in use ${whole}`, 'node', memory);
  value(scrape, 'weft_samples_bytes', 'Bytes of the file of samples.', samples.bytes);
  const heard = 'Samples that nodes have told since the head was started.';
  value(scrape, 'weft_samples_heard_total', heard, samples.samples);
}
