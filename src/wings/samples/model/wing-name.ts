// The name under which agents and heads speak of samples.

export const WING = 'samples';
