// One answer to Prometheus while it is made.

type Prometheus = typeof import('prom-client');

export interface Scrape {
  readonly prometheus: Prometheus;
  readonly registry: InstanceType<Prometheus['Registry']>;
}

/** Several figures under one name, told apart by a label. */
export function gauge(
  { prometheus, registry }: Scrape,
  name: string,
  help: string,
  label: string,
  values: Readonly<Record<string, number>>,
): void {
  const made = new prometheus.Gauge({ name, help, labelNames: [label], registers: [registry] });
  for (const [word, count] of Object.entries(values)) made.set({ [label]: word }, count);
}

/** Names that end in `_total` only grow. */
export function value(
  { prometheus, registry }: Scrape,
  name: string,
  help: string,
  now: number,
): void {
  const Metric = name.endsWith('_total') ? prometheus.Counter : prometheus.Gauge;
  new Metric({ name, help, registers: [registry] }).inc(now);
}
