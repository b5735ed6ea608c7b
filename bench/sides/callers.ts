/** Whom the load says it is, beside the tenant. */
export const STAFF = { subject: 'ada', groups: 'staff' } as const
