// Whether this machine can run batches in containers, as who asks, and why not.

import { type ContainerRuntime, runtimeWords } from '../../model/container-runtime.ts';
import type { Context } from '../context.ts';
import type { Finding } from './finding.ts';

export async function containerRuntimes(context: Context): Promise<Finding[]> {
  const found = await context.programs.findContainerRuntimes();
  if (found.length === 0) {
    return [{ state: 'ok', text: 'none; batches with images run on other machines' }];
  }
  return found.map((one) => {
    const text = runtimeWords([one]);
    if (one.problem === null) return { state: 'ok', text };
    return { state: 'note', text, remedy: remedyFor(one) };
  });
}

function remedyFor({ name, problem }: ContainerRuntime): string {
  if (name === 'podman') return 'As root or as its user, `podman info` says more.';
  if (/permission denied/i.test(problem ?? '')) {
    return 'Users of docker are in the group of its socket: usermod -aG docker USER.';
  }
  return 'Start its daemon: systemctl start docker. Nodes see within a minute that it answers.';
}
