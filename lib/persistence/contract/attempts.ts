/**
 * The number of times something runs at most, the first time included.
 * @param where - whose options they are, as in `transaction()`.
 * @throws RangeError for less than one attempt.
 */
export function attemptsOf(
  { maxAttempts }: { readonly maxAttempts?: number | undefined },
  where: string,
): number | undefined {
  if (maxAttempts !== undefined && !(maxAttempts >= 1))
    throw new RangeError(`${where}: maxAttempts is ${maxAttempts}, and is a number from 1`)
  return maxAttempts
}
