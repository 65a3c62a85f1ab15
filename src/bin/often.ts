// Programs of wings that are typed all day, as a package has them.

import { WINGS } from '../wings.ts';
import { programsOf } from './wing-programs.ts';

export const PROGRAMS = programsOf(WINGS.filter(({ cli }) => cli?.often !== undefined));
