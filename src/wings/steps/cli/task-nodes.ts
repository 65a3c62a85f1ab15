// All nodes of a task: those that a job is shown with are at most a hundred.

import type { TaskView } from '../../../kernel/api/jobs.ts';
import type { Api } from '../../../kernel/connect/api.ts';
import { usage } from '../../../kernel/model/failure.ts';

/** `42`, of a job that is no array, or `42[7]`. */
export async function taskNamed(api: Api, id: string): Promise<TaskView> {
  const { tasks } = await api.call('listTasks', { params: { id }, query: { limit: 1 } });
  const [task] = tasks;
  if (task === undefined) throw usage(`job ${id} has no task`);
  return task;
}
