import { EntitySchema } from 'typeorm'

export interface Owner {
  id: number
  name: string
}

export interface Cat {
  id: number
  name: string
  lives: number | null
  owner?: Owner | null
}

/** Plain TypeORM entities that are not resources. */
export const ownerSchema = new EntitySchema<Owner>({
  name: 'owner',
  columns: { id: { type: Number, primary: true, generated: true }, name: { type: String, length: 99 } },
})

export const catSchema = new EntitySchema<Cat>({
  name: 'cat',
  columns: {
    id: { type: Number, primary: true, generated: true },
    name: { type: String, length: 99, unique: true },
    lives: { type: Number, nullable: true },
  },
  relations: { owner: { type: 'many-to-one', target: 'owner', nullable: true } },
})
