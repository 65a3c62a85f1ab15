// Programs of wings that are typed all day, as a package has them: without what reads words, as `weft` does
// for its verbs.

import { WINGS } from '../wings.ts';
import { programsOf } from './wing-programs.ts';

export const PROGRAMS = programsOf(
  WINGS.filter(({ cli }) => cli?.often !== undefined),
  ({ program }) => Promise.reject(new Error(`${program} does not read its words itself`)),
);
