import { expect } from 'chai'
import { nameWith, parentOf, parsePattern, valuesIn } from '../../../lib/resource/names/pattern.js'

describe('a pattern of names', () => {
  for (const [text, why] of [
    ['*', 'stands for any name'],
    ['', '"" is not a collection'],
    ['shelves', 'has no variable'],
    ['{shelf}', '"{shelf}" is not a collection'],
    ['/shelves/{shelf}', '"" is not a collection'],
    ['shelves/{shelf}/', '"" is not a collection'],
    ['shelves//{shelf}', '"" is not a variable'],
    ['shelves/shelf', '"shelf" is not a variable'],
    ['shelves/{shelf}/{book}', '"{book}" is not a collection'],
    ['shelves/{shelf=**}', '"{shelf=**}" is not a variable'],
    ['shelves/{shelf}~{row}', '"{shelf}~{row}" is not a variable'],
    ['shelves/{Shelf}', '"{Shelf}" is not a variable'],
    ['shelves/{_shelf}', '"{_shelf}" is not a variable'],
    ['Shelves/{shelf}', '"Shelves" is not a collection'],
    ['shélves/{shelf}', '"shélves" is not a collection'],
    ['shelves/{shelf}/books/{shelf}', 'the variable shelf occurs twice in it'],
  ] as const)
    it(`refuses ${JSON.stringify(text)}`, () => {
      expect(() => parsePattern(text)).to.throw(TypeError, why)
    })

  it('knows its variables and its parent', () => {
    const editions = parsePattern('publishers/{publisher}/series/{series}/editions/{edition}')
    expect(editions.variables).to.deep.equal(['publisher', 'series', 'edition'])
    expect(editions.isSingleton).to.equal(false)
    expect(parentOf(editions)?.text).to.equal('publishers/{publisher}/series/{series}')
    expect(parentOf(parsePattern('shelves/{shelf}'))).to.equal(undefined)
    const policy = parsePattern('publishers/{publisher}/policy')
    expect(policy.isSingleton).to.equal(true)
    expect(parentOf(policy)?.text).to.equal('publishers/{publisher}')
  })

  const books = parsePattern('shelves/{shelf}/books/{book}')
  for (const text of [
    '',
    '/',
    'shelves',
    'shelves/1',
    'shelves/1/books',
    'shelves/1/books/',
    'shelves//books/2',
    '/shelves/1/books/2',
    'shelves/1/books/2/',
    'shelves/1/books/2/pages/3',
    'shelves/1/book/2',
    'Shelves/1/books/2',
    'shelves/1/2/books/3',
    '//library.example.com/shelves/1/books/2',
    `${'shelves/1/'.repeat(1000)}books/2`,
  ])
    it(`is not matched by ${JSON.stringify(text.slice(0, 60))}`, () => {
      expect(valuesIn(books, text)).to.equal(undefined)
    })

  it('is matched by a name, and writes it back', () => {
    for (const values of [
      ['1', '2'],
      ['-', 'é %2F~'],
      ['x'.repeat(10_000), 'y'],
    ])
      expect(valuesIn(books, nameWith(books, values))).to.deep.equal(values)
    const policy = parsePattern('publishers/{publisher}/policy')
    expect(valuesIn(policy, 'publishers/1/policy')).to.deep.equal(['1'])
    expect(valuesIn(policy, 'publishers/1/policies')).to.equal(undefined)
    expect(valuesIn(policy, 'publishers/1/policy/')).to.equal(undefined)
  })
})
