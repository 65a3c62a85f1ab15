// What the wings add to the kernel's types, for all that is compiled with this file.

import '../../src/wings.ts';
import type {} from '../../src/wings/sites/config/site-options.ts';
