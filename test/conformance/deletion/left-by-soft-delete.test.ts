import { expect } from 'chai'
import { Column, Entity, JoinColumn, ManyToOne, OneToMany, PrimaryColumn } from 'typeorm'
import { Expirable, Resource, SoftDeletable, TenantScoped } from '../../../decorators/index.js'
import { ErrNotFound } from '../../../lib/errors.js'
import type { Repository } from '../../../lib/persistence/contract/repository.js'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'
import { backends, describeOn, distributed, openWithTables } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'
import { inAcme } from '../repository/subject.js'

@Resource()
@Entity('left_albums')
@TenantScoped()
@SoftDeletable()
@Expirable()
class Album {
  @PrimaryColumn({ length: 40 }) id!: string
  accountId!: string
  deleteTime?: Date
  expireTime?: Date
  @OneToMany(() => Photo, (photo) => photo.album) photos?: Photo[]
}

@Resource()
@Entity('left_photos')
@TenantScoped()
class Photo {
  @PrimaryColumn({ length: 40 }) id!: string
  @Column({ length: 40 }) albumId!: string
  @ManyToOne(() => Album, (album) => album.photos, {
    onDelete: 'CASCADE',
    createForeignKeyConstraints: false,
  })
  @JoinColumn({ name: 'album_id' })
  album?: Album
  accountId!: string
}

describeOn(
  'a CASCADE from a resource that can be undeleted to one that cannot',
  [...backends, ...distributed],
  (backend) => {
    it('leaves its rows in a delete, and deletes them in a purge', async () => {
      const { dataSource, close } = await openWithTables(backend, [Album, Photo])
      const database = new MemoryDatabase()
      const albums = (
        dataSource === undefined
          ? new MemoryRepository(Album, { database })
          : new TypeormRepository(dataSource, Album)
      ) as Repository<Album>
      const photos = (
        dataSource === undefined
          ? new MemoryRepository(Photo, { database })
          : new TypeormRepository(dataSource, Photo)
      ) as Repository<Photo>
      try {
        await inAcme(async () => {
          const expireTime = new Date('2001-01-01T00:00:00Z')
          await albums.create({ id: 'a', expireTime })
          await albums.create({ id: 'b' })
          for (const [id, albumId] of [
            ['1', 'a'],
            ['2', 'b'],
          ] as const)
            await photos.create({ id, albumId })
          await albums.delete('a')
          expect((await photos.get('1')).albumId).to.equal('a')
          expect((await albums.undelete('a')).id).to.equal('a')
          await albums.batchDelete(['a', 'b'])
          expect((await photos.list({ orderBy: 'id' })).items.map(({ id }) => id)).to.deep.equal(['1', '2'])
          expect(await albums.purgeExpired(new Date())).to.equal(1)
          await rejection(photos.get('1'), ErrNotFound)
          expect((await photos.get('2')).albumId).to.equal('b')
        })
        if (dataSource === undefined) return
        const { warnings } = await (photos as TypeormRepository<Photo>).startUpCheck()
        expect(warnings.filter((text) => text.startsWith('album of Photo'))).to.have.length(2)
      } finally {
        await close()
      }
    })
  },
)
