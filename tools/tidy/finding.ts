// What a rule says about a place, always with the remedy, and how that reads in a terminal.

/** One remark. An error fails the run; a warning is printed only. */
export interface Finding {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly level: 'error' | 'warning';
  /** What is wrong, and after it what to do instead. */
  readonly message: string;
}

/** `path:line: level: message`, a form that editors can follow. */
export function formatFinding(finding: Finding): string {
  return `${finding.path}:${finding.line}: ${finding.level}: ${finding.message}`;
}
