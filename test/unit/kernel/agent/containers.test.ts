// Containers of tasks: what ends, stops and goes on with a task is said to their engine, by the
// agent that is there at the time.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { enginesPath } from '../../../../src/kernel/agent/environment.ts';
import type { LaunchOrder } from '../../../../src/kernel/model/orders.ts';
import type { Command, CommandEnd } from '../../../../src/kernel/ports/commands.ts';
import { FakeWorld } from './fake-world.ts';
import { idOf, launch, shell } from './orders.ts';

const BATCH: Partial<LaunchOrder> = {
  batch: { title: 'lab/heat', build: 'key' },
  directory: { kind: 'private' },
};
const MARK = '/state/work/1-1/_weft/container-';

let world = new FakeWorld();

afterEach(async () => {
  await world.kill();
});

/** A world whose engine answers so; gives what it is asked. */
function withEngine(answer: () => Partial<CommandEnd>) {
  const asked: string[] = [];
  const commands: Command[] = [];
  world = new FakeWorld();
  world.engines = {
    run: (command) => {
      commands.push(command);
      asked.push(command.argv.join(' '));
      const said = { how: 'exit code 0', output: '', errors: '' };
      const end = { succeeded: true, code: 0, ...said, isThere: () => false };
      return Promise.resolve({ ...end, ...answer() });
    },
  };
  return { asked, commands };
}

/** The name of the container of the first process of this world. */
function nameOf(): string {
  const launchId = world.launcher.started[0]?.launchId ?? 0;
  return `weft-${world.settings.instance}-${launchId}`;
}

async function start(more: Partial<LaunchOrder> = BATCH): Promise<void> {
  await world.start();
  world.head.order(launch(1, shell('x'), more));
  await world.clock.settle();
}

async function exit(end: { code?: number; signal?: number }): Promise<void> {
  world.launcher.exit(world.launcher.started[0]?.launchId ?? 0, end);
  await world.clock.settle();
}

test('[B8] a container that a task has left is ended before the task counts as ended', async () => {
  let isUp = false;
  const { asked } = withEngine(() =>
    isUp ? {} : { succeeded: false, output: 'Cannot connect to the Docker daemon' },
  );
  await start();
  world.files.writeFile(`${MARK}docker`, '');
  await exit({ signal: 9 });
  assert.deepEqual(asked, [`docker rm --force ${nameOf()}`]);
  assert.equal(world.head.endOf(idOf(1)), undefined, 'it may still write');
  isUp = true;
  await world.clock.advance(1000);
  assert.equal(asked.length, 2);
  assert.equal(world.head.endOf(idOf(1))?.cause, 'exited');
});

test('[E2] an engine is asked with the rights, the groups and the variables of the user', async () => {
  for (const kind of ['docker', 'podman']) {
    const { commands } = withEngine(() => ({}));
    await start();
    world.files.writeFile(`${MARK}${kind}`, '');
    await exit({ signal: 9 });
    const [{ user, environment, isBare, directory } = {}] = commands;
    assert.deepEqual(user, { uid: 1000, gid: 1000, groups: [1000] }, kind);
    const own = { HOME: '/home/alice', USER: 'alice', LOGNAME: 'alice' };
    assert.deepEqual(environment, { PATH: enginesPath(), ...own });
    assert.deepEqual([isBare, directory], [true, '/'], 'nothing of the agent’s own');
    await world.kill();
  }
});

test('the containers of podman are ended by podman', async () => {
  const { asked } = withEngine(() => ({}));
  await start();
  world.files.writeFile(`${MARK}podman`, '');
  await exit({ signal: 9 });
  assert.deepEqual(asked, [`podman rm --force ${nameOf()}`]);
});

test('tasks that have left none, and those of no batch, cost nothing', async () => {
  const { asked } = withEngine(() => ({}));
  await start();
  await exit({ code: 0 });
  assert.equal(world.head.endOf(idOf(1))?.cause, 'exited');
  await world.kill();
  withEngine(() => ({}));
  await start({ directory: { kind: 'private' } });
  world.files.writeFile(`${MARK}docker`, '');
  await exit({ signal: 9 });
  assert.deepEqual(asked, []);
});

test('[B8] a task that has removed its mark is believed only when its script ended well', async () => {
  const script = { kind: 'script', text: ': > "$work/_weft/container-docker"', args: [] } as const;
  for (const [end, count] of [
    [{ signal: 9 }, 1],
    [{ code: 125 }, 1],
    [{ code: 3 }, 0],
    [{ code: 0 }, 0],
  ] as const) {
    const { asked } = withEngine(() => ({}));
    await world.start();
    world.head.order(launch(1, script, BATCH));
    await world.clock.settle();
    await exit(end);
    assert.deepEqual(asked, count === 0 ? [] : [`docker rm --force ${nameOf()}`]);
    await world.kill();
  }
});

test('a container that is gone already, and an engine that never answers, hold nobody up', async () => {
  let answer: Partial<CommandEnd> = { succeeded: false, output: 'Error: No such container: x' };
  const { asked } = withEngine(() => answer);
  await start();
  world.files.writeFile(`${MARK}docker`, '');
  await exit({ signal: 9 });
  assert.equal(world.head.endOf(idOf(1))?.cause, 'exited');
  assert.equal(asked.length, 1);
  answer = { succeeded: false, output: 'it hangs' };
  world.head.order(launch(2, shell('x'), BATCH));
  await world.clock.settle();
  world.files.writeFile('/state/work/2-1/_weft/container-docker', '');
  world.launcher.exit(world.launcher.started[1]?.launchId ?? 0, { code: 1 });
  await world.clock.advance(60_000);
  assert.equal(world.head.endOf(idOf(2))?.cause, 'exited');
});

test('[B8] an agent that was killed is followed by one that ends what was left', async () => {
  const { asked } = withEngine(() => ({}));
  await start();
  world.files.writeFile(`${MARK}docker`, '');
  const name = nameOf();
  await world.kill();
  world.launcher.die();
  await world.start();
  await world.clock.advance(10_000);
  assert.deepEqual(asked, [`docker rm --force ${name}`]);
  assert.equal(world.head.endOf(idOf(1))?.cause, 'lost');
});

test('[B8] what is stopped with its task stops in its container, and wakes to be ended', async () => {
  const { asked } = withEngine(() => ({}));
  await start();
  world.files.writeFile(`${MARK}podman`, '');
  const epochId = idOf(1);
  world.head.order({ kind: 'suspend', epochId, turn: 1 });
  await world.clock.settle();
  world.head.order({ kind: 'resume', epochId, turn: 2 });
  await world.clock.settle();
  world.head.order({ kind: 'suspend', epochId, turn: 3 });
  await world.clock.settle();
  world.head.order({ kind: 'end', epochId, graceMs: 5000, why: 'cancelled' });
  await world.clock.settle();
  const name = nameOf();
  const said = ['pause', 'unpause', 'pause', 'unpause', 'rm --force'];
  assert.deepEqual(
    asked,
    said.map((words) => `podman ${words} ${name}`),
  );
});

test('[K14] the container of a worker ends and stands still with it, without a mark', async () => {
  const WORKER = { pool: { key: 'k', image: { kind: 'docker', name: 'lab/node' } } } as const;
  const { asked } = withEngine(() => ({}));
  await start(WORKER);
  const epochId = idOf(1);
  world.head.order({ kind: 'suspend', epochId, turn: 1 });
  await world.clock.settle();
  world.head.order({ kind: 'resume', epochId, turn: 2 });
  await world.clock.settle();
  const name = nameOf();
  await exit({ signal: 9 });
  const said = ['pause', 'unpause', 'rm --force'];
  assert.deepEqual(
    asked,
    said.map((words) => `docker ${words} ${name}`),
  );
  assert.equal(world.head.endOf(epochId)?.cause, 'exited');
  await world.kill();
  const left = withEngine(() => ({}));
  await start(WORKER);
  await exit({ code: 0 });
  assert.deepEqual(left.asked, [], 'the script has seen its end');
});
