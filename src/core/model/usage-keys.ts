// By what the usage of jobs is added up.

export const USAGE_KEYS = ['user', 'partition', 'outcome'] as const;
export type UsageKey = (typeof USAGE_KEYS)[number];
