// The web page with what wings add to it, in the order of the menu. Without its line and its folder a
// wing is gone, and the rest works.

import { openPage } from './kernel/page/app.tsx';
import { batchesPage } from './wings/batches/page/part.tsx';
import { callsPage } from './wings/calls/page/part.tsx';
import { loginsPage } from './wings/logins/page/part.tsx';
import { manualPage } from './wings/manual/page/part.tsx';
import { noticesPage } from './wings/notices/page/part.tsx';
import { samplesPage } from './wings/samples/page/part.tsx';
import { sitesPage } from './wings/sites/page/part.tsx';

openPage([noticesPage, batchesPage, callsPage, sitesPage, samplesPage, manualPage, loginsPage]);
