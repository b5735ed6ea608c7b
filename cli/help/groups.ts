/** The commands of a topic that has many, by what they are for. */
export const GROUPS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  migrate: {
    'every day': ['new', 'plan', 'up', 'status', 'verify'],
    changes: ['diff', 'check', 'lint', 'dry-run', 'try-rollout'],
    'an existing database': ['adopt', 'baseline'],
    repair: ['down', 'redo', 'resolve', 'repair', 'renumber'],
  },
}
