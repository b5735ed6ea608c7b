/** The topics and commands of `ashlar`, by what people want to do. */
export const ROOT_GROUPS: Readonly<Record<string, readonly string[]>> = {
  'write a service': ['new', 'dev', 'check', 'generate'],
  'change its tables': ['migrate', 'search'],
  'look at what others see': ['security-check', 'authz', 'openapi', 'proto'],
  'run it': ['outbox', 'secrets'],
  'set up your machine': ['idp', 'completion'],
}

/** Whose first examples the help of `ashlar` shows. */
export const FIRST_STEPS: readonly string[] = ['new', 'dev', 'migrate:plan', 'security-check']

/** The commands of a topic that has many, by what they are for. */
export const GROUPS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  migrate: {
    'every day': ['new', 'plan', 'up', 'status', 'verify'],
    changes: ['diff', 'check', 'lint', 'dry-run', 'try-rollout'],
    'an existing database': ['adopt', 'baseline'],
    repair: ['down', 'redo', 'resolve', 'repair', 'renumber'],
  },
}
