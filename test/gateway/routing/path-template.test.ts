import { expect } from 'chai'
import { parsePathTemplate } from '../../../lib/gateway/routing/path-template.js'

/** Segments as words: a literal is itself. */
const segmentsOf = (source: string): string =>
  parsePathTemplate(source)
    .segments.map((segment) =>
      segment.kind === 'literal' ? segment.text : segment.kind === 'one' ? '*' : '**',
    )
    .join(' ')

const variablesOf = (source: string): string =>
  parsePathTemplate(source)
    .variables.map(({ field, from, to }) => `${field}:${from}-${to ?? 'end'}`)
    .join(' ')

describe('parsePathTemplate', () => {
  const GRAMMAR = 'google.api.http: Template = "/" Segments [ Verb ]'
  for (const [template, segments, variables, verb, rule] of [
    ['/v1', 'v1', '', '', GRAMMAR],
    ['/v1/shelves', 'v1 shelves', '', '', GRAMMAR],
    ['/v1/*', 'v1 *', '', '', 'google.api.http: Segment = "*" | "**" | LITERAL | Variable'],
    ['/v1/**', 'v1 **', '', '', 'google.api.http: "**" matches zero or more segments'],
    ['/**', '**', '', '', 'google.api.http: "**" matches zero or more segments'],
    ['/v1/{id}', 'v1 *', 'id:1-2', '', 'google.api.http: {var} is {var=*}'],
    ['/v1/{id=*}', 'v1 *', 'id:1-2', '', 'google.api.http: {var} is {var=*}'],
    [
      '/v1/{name=shelves/*}',
      'v1 shelves *',
      'name:1-3',
      '',
      'google.api.http: Variable = "{" FieldPath [ "=" Segments ] "}"',
    ],
    [
      '/v1/{name=shelves/*/books/*}',
      'v1 shelves * books *',
      'name:1-5',
      '',
      'google.api.http: Variable with Segments',
    ],
    ['/v1/{name=shelves/**}', 'v1 shelves **', 'name:1-end', '', 'google.api.http: "**" in a variable'],
    [
      '/v1/{parent=shelves/*}/books',
      'v1 shelves * books',
      'parent:1-3',
      '',
      'google.api.http: segments behind a variable',
    ],
    ['/v1/{a}/{b}', 'v1 * *', 'a:1-2 b:2-3', '', 'google.api.http: several variables'],
    ['/v1/{widget.id}', 'v1 *', 'widget.id:1-2', '', 'google.api.http: FieldPath = IDENT { "." IDENT }'],
    ['/v1/{a.b.c=x/*}/d', 'v1 x * d', 'a.b.c:1-3', '', 'google.api.http: FieldPath = IDENT { "." IDENT }'],
    ['/v1/{id}:undelete', 'v1 *', 'id:1-2', 'undelete', 'google.api.http: Verb = ":" LITERAL; AIP-136'],
    ['/v1/shelves:merge', 'v1 shelves', '', 'merge', 'google.api.http: Verb = ":" LITERAL; AIP-136'],
    [
      '/v1/{name=shelves/**}:move',
      'v1 shelves **',
      'name:1-end',
      'move',
      'google.api.http: "**" last except the verb',
    ],
    ['/v1/shelves:batch-get', 'v1 shelves', '', 'batch-get', 'google.api.http: Verb = ":" LITERAL'],
    ['/.well-known/x_y-z~1', '.well-known x_y-z~1', '', '', 'RFC 3986: unreserved characters in a literal'],
    ['/v1/a%20b', 'v1 a b', '', '', 'RFC 3986 6.2.2.2: escapes of a literal are its characters'],
    ['/v1/{_x}', 'v1 *', '_x:1-2', '', 'google.api.http: FieldPath = IDENT { "." IDENT }'],
  ] as const)
    it(`reads ${template} (${rule})`, () => {
      expect(segmentsOf(template)).to.equal(segments)
      expect(variablesOf(template)).to.equal(variables)
      expect(parsePathTemplate(template).verb).to.equal(verb)
    })

  for (const [template, rule] of [
    ['', 'a template begins with "/"'],
    ['v1/shelves', 'a template begins with "/"'],
    ['/', 'a template has a segment'],
    ['//v1', 'a segment is not empty'],
    ['/v1/', 'a segment is not empty'],
    ['/v1//x', 'a segment is not empty'],
    ['/v1/**/x', '"**" is the last segment'],
    ['/v1/{a=**}/x', '"**" is the last segment'],
    ['/v1/{a=**/b}', '"**" is the last segment'],
    ['/v1/**/**', '"**" is the last segment'],
    ['/v1/{a={b}}', 'a variable holds no other variable'],
    ['/v1/{a', 'a variable is closed'],
    ['/v1/a}', 'a variable is opened'],
    ['/v1/{}', 'a variable names a field'],
    ['/v1/{=*}', 'a variable names a field'],
    ['/v1/{1a}', 'IDENT begins with a letter'],
    ['/v1/{a.}', 'FieldPath = IDENT { "." IDENT }'],
    ['/v1/{a..b}', 'FieldPath = IDENT { "." IDENT }'],
    ['/v1/{a-b}', 'IDENT has no dash'],
    ['/v1/{a=}', 'a variable has a segment'],
    ['/v1/{a}{b}', 'a segment is one variable'],
    ['/v1/x{a}', 'a segment is one variable'],
    ['/v1/{a}x', 'a segment is one variable'],
    ['/v1/a*', '"*" stands alone'],
    ['/v1/***', '"*" stands alone'],
    ['/v1/{a}/{a}', 'a field is bound once'],
    ['/v1/a:', 'a verb is a word'],
    ['/v1/a:b/c', 'a verb is the end'],
    ['/v1/a:b:c', 'a literal has no colon'],
    ['/v1/a?b', 'a template has no query'],
    ['/v1/a#b', 'a template has no fragment'],
    ['/v1/a b', 'a template has no space'],
  ] as const)
    it(`refuses ${JSON.stringify(template)} (google.api.http: ${rule})`, () => {
      expect(() => parsePathTemplate(template)).to.throw(TypeError)
    })

  for (const [template, problem] of [
    ['v1', 'character 1: a path must begin with "/"'],
    ['/v1/', 'character 5: a segment is empty: remove the slash in front of it'],
    ['/v1/:verb', 'character 5: a segment is empty: remove the slash in front of it'],
    ['/:verb', 'character 2: a segment is empty: remove the slash in front of it'],
    ['/{a=b/:c}', 'character 7: a segment is empty: remove the slash in front of it'],
    ['/v1/{id', 'character 5: "{" is never closed: write {field} or {field=pattern}'],
    ['/v1/{', 'character 5: "{" is never closed: write {field} or {field=pattern}'],
    ['/v1/{id=shelves/*', 'character 5: "{" is never closed: write {field} or {field=pattern}'],
    ['/v1/{id=shelves/**', 'character 5: "{" is never closed: write {field} or {field=pattern}'],
    ['/v1/{a}/{id=x', 'character 9: "{" is never closed: write {field} or {field=pattern}'],
    ['/v1/a}', 'character 6: "}" closes a variable that was never opened'],
    ['/v1/{a}}', 'character 8: "}" follows a variable, which must be a whole segment'],
    ['/v1/{}', 'character 6: a variable must name a field: letters, digits and "_", parts separated by "."'],
    ['/v1/{a=}', 'character 8: a variable has an empty pattern: write {field} or {field=*}'],
    ['/v1/{a={b}}', 'character 8: a variable cannot contain another variable'],
    ['/v1/{a}/x/{a=y/*}', 'character 11: "a" is bound twice: name each field once'],
    ['/v1/**/x', 'character 5: "**" is only supported at the end of a path'],
    ['/v1/{a=x/**}/{b}', 'character 10: "**" is only supported at the end of a path'],
    ['/v1/{a=**/x/*}:go', 'character 8: "**" is only supported at the end of a path'],
    ['/v1/**/**', 'character 5: "**" is only supported at the end of a path'],
    ['/v1/**/{a', 'character 8: "{" is never closed: write {field} or {field=pattern}'],
    ['/v1/a*', 'character 6: "*" is in the middle of a segment'],
    ['/v1/x%zz', 'character 6: "%" must be followed by two hexadecimal digits'],
    ['/v1/x%4', 'character 6: "%" must be followed by two hexadecimal digits'],
    ['/v1/x%', 'character 6: "%" must be followed by two hexadecimal digits'],
    ['/v1/{a=x%zz/*}', 'character 9: "%" must be followed by two hexadecimal digits'],
    ['/v1/x:go%zz', 'character 9: "%" must be followed by two hexadecimal digits'],
    ['/v1/x%ff', 'character 6: a percent escape is not UTF-8'],
    ['/v1/..', 'character 5: ".." is a dot segment, which clients remove from a path'],
    ['/v1/%2E/x', 'character 5: "." is a dot segment, which clients remove from a path'],
    ['/v1/a\\b', 'character 6: "\\\\" is not allowed in a path: write it percent-encoded'],
    ['/v1/a:', 'character 7: a verb must follow the ":"'],
    ['/v1/{a=*:go}', 'character 9: a verb must follow the path, outside variables'],
    ['/v1/a:b/c', 'character 8: a verb must be one word at the end of the path'],
  ] as const)
    it(`says of ${JSON.stringify(template)}: ${problem}`, () => {
      expect(() => parsePathTemplate(template)).to.throw(TypeError, problem)
    })

  it('decodes a verb, as it decodes a literal', () => {
    expect(parsePathTemplate('/v1/x:go%6F').verb).to.equal('goo')
  })
})
