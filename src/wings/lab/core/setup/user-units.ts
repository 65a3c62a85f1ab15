// The units of a user's own services, for systemd's manager of that user: a head or an agent
// without root.

export interface UserService {
  /** The program. */
  readonly weft: string;
  readonly state: string;
}

/** Between double quotes in a unit, where `%` begins a specifier. */
const quoted = (text: string): string =>
  `"${text.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%')}"`;

/** In a command `$` begins a variable. */
const command = (weft: string): string => quoted(weft).replaceAll('$', '$$$$');

const begin = (what: string, more = ''): string => `[Unit]
Description=${what}
StartLimitIntervalSec=0
${more}
[Service]
`;

const END = `Restart=always
RestartSec=1

[Install]
WantedBy=default.target
`;

/** `deploy/systemd/weft-head.service` without what needs root. */
export function headUnit({ weft, state }: UserService): string {
  return `${begin('Weft head')}Environment=${quoted(`WEFT_DIR=${state}`)}
Environment="NODE_OPTIONS=--max-semi-space-size=16 --expose-gc" MALLOC_ARENA_MAX=1
Environment="WEFT_FOR_ITSELF=NODE_OPTIONS MALLOC_ARENA_MAX"
ExecStart=${command(weft)} head
ExecReload=/bin/kill -HUP $MAINPID
RestartPreventExitStatus=2 65 70 77
TimeoutStopSec=30
UMask=0077
${END}`;
}

/** Beside `weft-jobs.service`, in whose group jobs are: they outlive the agent. */
export function agentUnit({ weft, state }: UserService): string {
  const beside = 'After=weft-jobs.service\nWants=weft-jobs.service\n';
  return `${begin('Weft agent', beside)}Environment=${quoted(`WEFT_DIR=${state}`)}
ExecStart=${command(weft)} agent
KillMode=process
Delegate=yes
LimitNOFILE=1024:524288
UMask=0022
${END}`;
}

/** The folder that such a unit names; null: it is none of these. */
export function stateIn(unit: string): string | null {
  const found = /^Environment="WEFT_DIR=((?:[^"\\\n]|\\.)+)"$/m.exec(unit)?.[1];
  return found === undefined ? null : found.replace(/\\(.)/g, '$1').replaceAll('%%', '%');
}
