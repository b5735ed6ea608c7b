/** The caller of the load, apart from the tenant. */
export const STAFF = { subject: 'ada', groups: 'staff' } as const
