/** The tests that do not apply to Citus, by their titles, with the reason. */
export const CITUS_LIMITS: Readonly<Record<string, string>> = {
  'is isolated as it asks: two that read before they write do not both keep what they wrote':
    'a transaction whose commit failed on a worker may have been saved, so it is not repeated',
}
