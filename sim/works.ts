// All that people want of a cluster of our own nodes in one run, and what came of it.

import type { BatchesTruth } from './batch-truth.ts';
import { BatchWork } from './batch-work.ts';
import { Booking } from './booking.ts';
import { BurstWork } from './burst-work.ts';
import type { Streams } from './chance.ts';
import type { Client } from './client.ts';
import type { Time } from './clock.ts';
import type { HeadHost } from './head-host.ts';
import { LaterWork } from './later-work.ts';
import type { Machine } from './machine.ts';
import { PauseWork } from './pause-work.ts';
import type { Post } from './post.ts';
import type { Site } from './site.ts';
import { SiteWork } from './site-work.ts';
import type { Truth } from './truth.ts';
import type { Weather } from './weather.ts';
import { Workload } from './workload.ts';

export interface WorksWorld {
  readonly time: Time;
  readonly streams: Streams;
  readonly client: Client;
  readonly weather: Weather;
  readonly host: HeadHost;
  readonly machines: readonly Machine[];
  readonly truth: Truth;
  readonly batches: BatchesTruth;
  readonly post: Post;
  readonly site: Site;
  /** The head's wall clock. */
  readonly headNow: () => number;
  readonly note: (text: string) => void;
}

export class Works {
  readonly workload: Workload;
  readonly pauseWork: PauseWork;
  readonly #siteWork: SiteWork;
  readonly #laterWork: LaterWork;
  readonly #batchWork: BatchWork;
  readonly #burstWork: BurstWork;

  constructor({ streams, site, batches, post, host, ...common }: WorksWorld) {
    const { client, machines, truth, headNow, time, weather, note } = common;
    const booking = new Booking({ client, machines, truth, headNow, pace: weather.pace });
    this.#siteWork = new SiteWork({
      time,
      client,
      weather,
      host,
      booking,
      headNow,
      site,
      streams: streams.under('site work'),
    });
    this.#laterWork = new LaterWork({
      time,
      client,
      weather,
      headNow,
      truth,
      note,
      streams: streams.under('later work'),
      partitions: Object.keys(site.base.partitions),
    });
    this.#batchWork = new BatchWork({
      time,
      client,
      weather,
      machines,
      note,
      truth: batches,
      wishes: () => post.wishes(weather.notify, streams.of('notify batches')),
      streams: streams.under('batches'),
    });
    this.#burstWork = new BurstWork({ time, client, weather, streams: streams.under('bursts') });
    this.pauseWork = new PauseWork({ ...common, streams: streams.under('pauses') });
    const wishes = () => ({
      ...this.#siteWork.wishes(),
      ...this.#laterWork.wishes(),
      ...post.wishes(weather.notify, streams.of('notify')),
    });
    const hasLicences = site.base.resources !== undefined;
    const own = { wishes, hasLicences, streams: streams.under('work') };
    this.workload = new Workload({ ...common, ...own });
  }

  /** Submissions without any answer yet. */
  get unanswered(): readonly string[] {
    const works = [this.workload, this.#batchWork, this.#burstWork];
    return works.flatMap(({ unanswered }) => [...unanswered]);
  }

  start(): void {
    for (const work of this.#all()) work.start();
  }

  stop(): void {
    for (const work of this.#all()) work.stop();
  }

  tidyUp(): void {
    this.workload.tidyUp();
    this.#siteWork.tidyUp();
  }

  #all() {
    const users = [this.workload, this.#laterWork, this.#batchWork, this.#burstWork];
    return [...users, this.#siteWork, this.pauseWork];
  }
}
