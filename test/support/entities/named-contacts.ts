import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm'
import { Resource, Searchable } from '../../../decorators/index.js'
import { Contact } from './contacts.js'

/** An entity that names its own schema. */
@Resource({ shared: true })
@Searchable({ strategy: 'INDEXED' })
@Entity('contacts', { schema: 'Archive "2".x' })
export class ArchivedContact {
  @PrimaryColumn() id!: string
  @Searchable() @Column('text') name!: string
}

export { Contact }

/** The DataSource determines the table names, and the schema of tables without one. */
export const dataSource = new DataSource({
  type: 'postgres',
  schema: 'inventory',
  entityPrefix: 'app_',
  entities: [Contact, ArchivedContact],
})
