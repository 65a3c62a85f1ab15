// The types of options that say which gpus a job needs.

import { err, ok } from '../../base/result.ts';
import { type GpuWish, parseGpus, parseGpuTypes, readGpus } from '../gpu-wish.ts';
import { type OptionType, shownAs } from './types.ts';

/** How the gpus of a job are joined. */
export const GPU_LINKS = ['any', 'nvlink'] as const;

/** `2`, or `a100:2`. */
export const GPUS: OptionType<GpuWish, number | string> = {
  form: { kind: 'own' },
  program: 'number | string',
  parse: ([text = '']) => parseGpus(text),
  take: (given) => {
    if (typeof given === 'number' || typeof given === 'string') return parseGpus(String(given));
    return err(`${shownAs(given)} is not a number of gpus`);
  },
  flaw: (value) => {
    const asked = readGpus(value);
    return asked.ok ? null : asked.error;
  },
};

/** `a100|h100`, or a list of them. */
export const GPU_TYPES: OptionType<readonly string[], string | readonly string[]> = {
  form: { kind: 'own' },
  program: 'string | readonly string[]',
  parse: ([text = '']) => parseGpuTypes(text),
  take: (given) => {
    const texts = typeof given === 'string' ? [given] : [...given];
    return texts.length === 0 ? ok([]) : parseGpuTypes(texts.join('|'));
  },
  format: (types) => types.join('|') || 'any',
  flaw: () => null,
};
