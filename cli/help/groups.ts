/** The topics and commands of `ashlar`, grouped by task. */
export const ROOT_GROUPS: Readonly<Record<string, readonly string[]>> = {
  'write a service': ['new', 'dev', 'check', 'generate'],
  'change its tables': ['migrate', 'search'],
  'check what others see': ['security-check', 'authz', 'openapi', 'proto'],
  'run it': ['outbox', 'secrets'],
  'set up your machine': ['idp', 'completion'],
}

/** The commands whose first example is shown in the help of `ashlar`. */
export const FIRST_STEPS: readonly string[] = ['new', 'dev', 'migrate:plan', 'security-check']

/** The commands of large topics, grouped by purpose. */
export const GROUPS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  migrate: {
    'every day': ['new', 'plan', 'up', 'status', 'verify'],
    changes: ['diff', 'check', 'lint', 'dry-run', 'try-rollout'],
    'an existing database': ['adopt', 'baseline'],
    repair: ['down', 'redo', 'resolve', 'repair', 'renumber'],
  },
}
