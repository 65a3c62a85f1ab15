// Failures of an agent that cannot start because the system refuses something: their words, and
// exit codes, which are those of a head (docs/recovery.md).

import { isSystemError, systemWords } from '../../config/file-problem.ts';
import { DAEMON_EXITS, exitOfErrno } from '../../model/daemon-exits.ts';
import { formatRefusal, kindOf, refuse } from '../../model/errors.ts';
import { Failure } from '../../model/failure.ts';

const ROOM = 'Make room there; nothing is lost, and it starts as soon as there is some.';

/** Returns null for an error that is not the system's own, as that of a full disk is. */
export function agentFailure(node: string, error: unknown): Failure | null {
  if (!isSystemError(error)) return null;
  const hint = ['ENOSPC', 'EDQUOT'].includes(error.code ?? '') ? ROOM : null;
  return failed(node, systemWords(error), { hint, exit: exitOfErrno(error.code) });
}

export function agentRuns(node: string, pid: string): Failure {
  return failed(node, `it already runs, as process ${pid}`, { exit: DAEMON_EXITS.temporary });
}

function failed(
  node: string,
  cause: string,
  { hint = null, exit }: { readonly hint?: string | null; readonly exit: number },
): Failure {
  const refusal = refuse('agent.failed', { node, cause });
  const { code } = refusal;
  const message = formatRefusal(refusal);
  return new Failure({ code, kind: kindOf(code), message, hint, exit });
}
