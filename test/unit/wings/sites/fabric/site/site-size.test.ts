// How much a site has, told again as its nodes come and go.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SiteNode } from '../../../../../../src/kernel/model/site.ts';
import {
  type SiteSize,
  SizeWatch,
  sizeOf,
} from '../../../../../../src/wings/sites/fabric/site/site-size.ts';

function node(name: string, cpuCount: number, state: SiteNode['state'] = 'idle'): SiteNode {
  return {
    name,
    state,
    word: state,
    reason: null,
    cpuCount,
    cpusUsed: 0,
    memoryBytes: cpuCount * 1000,
    memoryFreeBytes: null,
    features: [],
    queues: [],
  };
}

const resources = (cpuCount: number) => {
  return { cpuCount, memoryBytes: cpuCount * 1000, gpuCount: 0, counted: {} };
};

test('[G21] a site has what its nodes have that are up, and at least one of its nodes', () => {
  assert.deepEqual(sizeOf([node('n1', 4), node('n2', 8)]).resources, resources(12));
  assert.deepEqual(sizeOf([node('n1', 4), node('n2', 8, 'down')]).resources, resources(8));
  assert.deepEqual(sizeOf([node('n1', 4, 'down'), node('n2', 8, 'down')]).resources, resources(8));
  assert.deepEqual(sizeOf([node('n1', 4), node('n2', 8, 'stopped')]).resources, resources(12));
});

test('[G21] what a site has is told when it changes, and not for each node of many', () => {
  const told: SiteSize[] = [];
  let now = 0;
  const clock = { monotonic: () => now };
  const all = [node('n1', 4), node('n2', 4), node('n3', 4)];
  const watch = new SizeWatch(clock, sizeOf(all.slice(0, 2)), (size) => told.push(size));
  const cpus = () => told.splice(0).map((size) => size.resources.cpuCount);
  watch.look(all.slice(0, 2));
  assert.deepEqual(cpus(), []);
  watch.look(all);
  assert.deepEqual(cpus(), [12], 'a new node counts at once');
  now += 59_999;
  watch.look(all.slice(1));
  watch.look([]);
  assert.deepEqual(cpus(), []);
  now += 1;
  watch.look([]);
  assert.deepEqual(cpus(), [], 'an empty list is no site without nodes');
  watch.look(all.slice(2));
  assert.deepEqual(cpus(), [4]);
});
