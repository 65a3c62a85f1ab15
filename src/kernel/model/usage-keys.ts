// By what the usage of jobs is added up.

export const USAGE_KEYS = ['user', 'group', 'partition', 'outcome', 'gpu'] as const;
export type UsageKey = (typeof USAGE_KEYS)[number];
/** Those that the records have: whose groups somebody is in is a matter of today. */
export type RecordedUsageKey = Exclude<UsageKey, 'group'>;
