// Sets Python up for the clients of examples/python: the generator and httpx, pinned. Run by the
// test of the clients.

import { type PythonSetup, setUpVenv } from './python-venv.ts';

/** The last releases that were tried. */
const REQUIREMENTS = ['openapi-python-client==0.29.1', 'httpx==0.28.1'];

export function setUpPython(): PythonSetup {
  return setUpVenv('python', REQUIREMENTS);
}
