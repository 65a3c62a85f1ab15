// What the wings add to the kernel's types, for all that is compiled with this file.

import '../src/wings.ts';
