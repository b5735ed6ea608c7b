/** `entities: 2 problems: …; …`. */
export const problemsText = (subject: string, problems: readonly string[]): string =>
  problems.length === 1
    ? `${subject}: ${problems.join('')}`
    : `${subject}: ${problems.length} problems: ${problems.join('; ')}`

/**
 * The message of an error in one line; a declaration error, which may be of another copy of the package, has
 * several problems.
 */
export function messageOf(error: Error): string {
  const { subject, problems } = error as Partial<Record<'subject', string> & Record<'problems', string[]>>
  return subject === undefined || problems === undefined ? error.message : problemsText(subject, problems)
}
