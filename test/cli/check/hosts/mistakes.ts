import { Column, Entity, ManyToMany, ManyToOne, PrimaryColumn } from 'typeorm'
import { OutputOnly, Resource } from '../../../../decorators/index.js'
import { NoteSchema } from '../../../support/gen/specimens_pb.js'

/** Its message is in a file with a method that has no rule. */
@Resource({ message: NoteSchema, shared: true })
@Entity('notes')
export class Note {
  @PrimaryColumn() name!: string
  @Column() text!: string
  @Column() stars!: number
  @ManyToMany(() => Reader, { onDelete: 'CASCADE' }) readers?: Reader[]
  @Column({ nullable: true }) draft?: string
}

@Resource({ shared: true })
@Entity('readers')
export class Reader {
  @PrimaryColumn() id!: string
  @OutputOnly({ generated: true }) @Column() rank!: number
}

/** No field holds an interval. */
@Resource({ shared: true })
@Entity('bills')
export class Bill {
  @PrimaryColumn() id!: string
  @Column({ type: 'interval' }) due!: string
}

/** A reference that is never null cannot be set to null. */
@Resource({ shared: true })
@Entity('pages')
export class Page {
  @PrimaryColumn() id!: string
  @ManyToOne(() => Reader, { onDelete: 'SET NULL', nullable: false }) reader?: Reader
}

@Resource({ shared: true })
@Entity('twins')
export class Castor {
  @PrimaryColumn() id!: string
}

@Resource({ shared: true })
@Entity('twins')
export class Pollux {
  @PrimaryColumn() id!: string
}
