import { expect } from 'chai'
import { BookSchema } from '../../../examples/library/gen/library_pb.js'
import { InvalidArgument } from '../../../lib/errors.js'
import { resourceName } from '../../../lib/resource/names/resource-name.js'
import { NoteSchema } from '../../support/gen/specimens_pb.js'

const bookName = resourceName(BookSchema, 'shelves/{shelf}/books/{book}')

describe('resourceName', () => {
  it('writes and reads a name', () => {
    expect(bookName.type).to.equal('library.example.com/Book')
    expect(bookName.format({ shelf: 'art', book: 'b1' })).to.equal('shelves/art/books/b1')
    const { shelf, book } = bookName.parse('shelves/art/books/b1')
    expect([shelf, book]).to.deep.equal(['art', 'b1'])
  })

  it('compiles with the variables of the pattern only', () => {
    // @ts-expect-error -- there is not a variable named page
    expect(() => bookName.format({ shelf: 'art', page: '1' })).to.throw(InvalidArgument, 'book')
    // @ts-expect-error -- there is not a variable named page
    expect(bookName.parse('shelves/art/books/b1').page).to.equal(undefined)
  })

  it('refuses parts that no name can have', () => {
    for (const book of ['', 'a/b', '.', '..'])
      expect(() => bookName.format({ shelf: 'art', book }))
        .to.throw(InvalidArgument)
        .with.property('field', 'book')
  })

  it('shows the pattern for a text that is no name', () => {
    expect(() => bookName.parse('shelves/art'))
      .to.throw(InvalidArgument, 'must look like shelves/{shelf}/books/{book}')
      .with.property('field', 'name')
  })

  it('is refused where the message says another pattern, or none', () => {
    expect(() => resourceName(BookSchema, 'shelves/{shelf}')).to.throw(
      'google.api.resource has shelves/{shelf}/books/{book}, not shelves/{shelf}',
    )
    expect(() => resourceName(NoteSchema, 'notes/{note}')).to.throw('google.api.resource has no pattern')
  })
})
