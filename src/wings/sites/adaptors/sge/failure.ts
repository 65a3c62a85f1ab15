// A command of Grid Engine that did not succeed.

import { failureBy } from '../read.ts';

export const failure = failureBy(
  /commlib error|unable to (send message to|contact) qmaster|could not get answer/i,
);
