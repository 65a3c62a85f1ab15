// Kills for want of memory are counted in control groups of both versions.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countOomKills } from '../../../../../../src/wings/calls/functions/supervisor/oom-kills.ts';

function count(files: Readonly<Record<string, string>>): number {
  return countOomKills((file) => {
    const text = files[file];
    if (text === undefined) throw new Error(`ENOENT: ${file}`);
    return text;
  });
}

test('version 2 counts in memory.events of its group', () => {
  const own = { '/proc/self/cgroup': '0::/weft/g4\n' };
  const events = 'low 0\noom 3\noom_kill 2\noom_group_kill 0\n';
  assert.equal(count({ ...own, '/sys/fs/cgroup/weft/g4/memory.events': events }), 2);
});

test('version 1 counts in memory.oom_control, also beside a version 2 without memory', () => {
  const control = 'oom_kill_disable 0\nunder_oom 0\noom_kill 5\n';
  const file = '/sys/fs/cgroup/memory/a/g4/memory.oom_control';
  const own = '8:pids:/b\n4:memory:/a/g4\n0::/weft/g4\n';
  assert.equal(count({ '/proc/self/cgroup': own, [file]: control }), 5);
  const joint = '4:cpu,memory:/a/g4\n';
  assert.equal(count({ '/proc/self/cgroup': joint, [file]: control }), 5);
});

test('where neither says it, there are none', () => {
  assert.equal(count({}), 0);
  assert.equal(count({ '/proc/self/cgroup': '0::/x\n' }), 0);
});
