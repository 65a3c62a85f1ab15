// Partitions, qualities of service, and the configuration that says what they are.

import { err, ok } from '../../../base/result.ts';
import { unknownPartition } from '../../../machine/partitions/admission.ts';
import { viewPartitions, viewQualities } from '../../answers/partition-view.ts';
import type { Handler } from '../call.ts';
import { changed } from './job-actions.ts';

export const listPartitions: Handler<'listPartitions'> = ({ engine: { state, settings } }) =>
  ok({ partitions: viewPartitions(state, settings) });

export const getPartition: Handler<'getPartition'> = ({ engine }, { params: { name } }) => {
  const { state, settings } = engine;
  const found = viewPartitions(state, settings).find((partition) => partition.name === name);
  return found === undefined ? err(unknownPartition(settings.scheduling, name)) : ok(found);
};

export const changePartition: Handler<'changePartition'> = async ({ engine }, call) => {
  const { params, body: change, actor } = call;
  const partition = params.name;
  return changed(await engine.execute({ kind: 'change_partition', partition, change }, actor));
};

export const resetPartition: Handler<'resetPartition'> = async ({ engine }, { params, actor }) => {
  const partition = params.name;
  return changed(await engine.execute({ kind: 'reset_partition', partition }, actor));
};

export const listQos: Handler<'listQos'> = ({ engine: { state, settings } }) =>
  ok({ qualities: viewQualities(state, settings) });

export const reloadConfig: Handler<'reloadConfig'> = ({ reload }) => reload();
