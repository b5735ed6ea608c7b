import { type Authorizer, devAuthorizer, filter } from '../../lib/index.js'

const staff = { tenant: '*', subjects: ['group:staff'] }

/** Who may call what. */
const grants: Authorizer = devAuthorizer([
  { ...staff, verbs: ['get', 'list', 'create', 'update', 'delete'], resource: 'customer' },
  { ...staff, verbs: ['get', 'list', 'create', 'update'], resource: 'product' },
  { ...staff, verbs: ['get', 'list', 'place', 'update', 'cancel', 'delete'], resource: 'order' },
  { ...staff, verbs: ['list', 'delete'], resource: 'order_line' },
  { tenant: '*', subjects: ['group:managers'], verbs: ['approve'], resource: 'order' },
  { tenant: '*', subjects: ['group:warehouse'], verbs: ['restock'], resource: 'product' },
])

/** The grants; and all of the staff read an order, but only managers change what somebody else placed. */
export const orderAuthorizer: Authorizer = {
  decidesByRow: true,
  authorize: async (request) => {
    // An authorizer may return a promise or a decision by row. Both are true for an `if`.
    if ((await grants.authorize(request)) !== true) return false
    const { type, verb, principal } = request
    const changes = type === 'order' && ['update', 'cancel', 'delete'].includes(verb)
    if (!changes || principal.groups.includes('managers')) return true
    return { where: filter`placed_by = ${principal.subject}` }
  },
  explain: (request) => grants.explain?.(request) ?? '',
}
