import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm'
import { Resource, Searchable } from '../../../decorators/index.js'
import { Contact } from './contacts.js'

/** One that names its schema itself. */
@Resource({ shared: true })
@Searchable({ strategy: 'INDEXED' })
@Entity('contacts', { schema: 'Archive "2".x' })
export class ArchivedContact {
  @PrimaryColumn() id!: string
  @Searchable() @Column('text') name!: string
}

export { Contact }

/** What says how their tables are called, and where those without a schema are. */
export const dataSource = new DataSource({
  type: 'postgres',
  schema: 'inventory',
  entityPrefix: 'app_',
  entities: [Contact, ArchivedContact],
})
