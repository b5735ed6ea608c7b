import type { DataSource } from 'typeorm'
import { type BackendName, backends, describeOn, coalesced, partsOn } from '../support/databases/backends.js'
import { openHooked, type HookedSubject, quiet } from './hooks/hooked-subject.js'
import { inside } from './hooks/inside.js'
import { keys } from './hooks/keys.js'
import { killed } from './hooks/killed.js'
import { loads } from './hooks/loads.js'
import { statements } from './hooks/statements.js'
import { subscribers } from './hooks/subscribers.js'
import { writes } from './hooks/writes.js'

/** Where a connection has a server that can end it. */
const SERVERS: readonly BackendName[] = ['postgres', 'mariadb', 'mysql8']

const SUBJECT = 'the hooks of an entity'

describeOn(SUBJECT, [...backends, ...coalesced], (backend) => {
  const holder = { subject: undefined as never as HookedSubject }
  before(async () => {
    holder.subject = await openHooked(backend)
  })
  beforeEach(async () => {
    quiet()
    await holder.subject.clear()
  })
  after(() => holder.subject?.close())

  const dataSource = () => holder.subject.dataSource as DataSource
  const parts = {
    writes,
    inside,
    keys,
    loads,
    ...(backend.name === 'memory'
      ? {}
      : { statements: () => statements(holder, dataSource), subscribers: () => subscribers(holder) }),
    ...(SERVERS.includes(backend.name) ? { killed: () => killed(holder, dataSource) } : {}),
  }
  for (const part of partsOn(backend, SUBJECT, parts)) part(holder)
})
